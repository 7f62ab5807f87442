// Keeps the files of the page, so that it works without a network. The build fills in the version,
// which changes with any of the files.

const CACHE = "stablo-VERSION";
const FILES = ["./", "index.html", "page.css", "page.js", "core.js", "editor.js", "inputs.js", "relaxed.js", "values.js", "views.js", "gallery.js", "worker.js", "graph.html", "stablo.wasm", "stablo.rest.wasm"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  const isOld = (key) => key.startsWith("stablo-") && key !== CACHE;
  event.waitUntil(caches.keys().then((keys) => Promise.all(keys.filter(isOld).map((key) => caches.delete(key)))).then(() => self.clients.claim()));
});
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(caches.open(CACHE).then((cache) => cache.match(event.request, { ignoreSearch: true })).then((found) => found ?? fetch(event.request)));
});
