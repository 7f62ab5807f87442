// Relaxed SIMD, of which the core has the multiply-adds of vectors. The core checks once that they are fused,
// and does not use them otherwise. Engines that do not know the instructions reject the module: for them,
// others take their place, with the same types, which the core finds not to be fused.

/** A module with one function, of that instruction. */
export const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0,
  10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2, 0xfd, 0x85, 0x02, 11,
]);

/** Prefix and numbers of instructions on vectors. */
const [VECTORS, BITSELECT] = [0xfd, 0x52];

/** True for multiply-adds, with or without a negated product, of either type. */
export const isMultiplyAdd = (number) => number >= 0x105 && number <= 0x108;

/** The bytes of a module for this engine: they themselves, or changed ones. */
export function compilable(bytes) {
  if (WebAssembly.validate(PROBE)) return bytes;
  return renumbered(bytes, (number) => (isMultiplyAdd(number) ? BITSELECT : number));
}

/** The bytes with other numbers for instructions on vectors, in as many bytes as before. */
export function renumbered(bytes, numberOf) {
  const changed = new Uint8Array(bytes).slice();
  for (const { number, at } of vectorInstructions(changed)) {
    const other = numberOf(number);
    if (other !== number) changed.set([VECTORS, 0x80 | (other & 0x7f), other >> 7], at);
  }
  return changed;
}

/** Each instruction on vectors in a module: its number, and where its prefix is. */
export function* vectorInstructions(bytes) {
  let at = 8;
  const skip = () => {
    while (bytes[at++] & 0x80);
  };
  const number = () => {
    let [value, shift, byte] = [0, 0, 0];
    do {
      byte = bytes[at++];
      value += (byte & 0x7f) * 2 ** shift;
      shift += 7;
    } while (byte & 0x80);
    return value;
  };
  const skips = (count) => {
    for (let i = 0; i < count; i++) skip();
  };
  const address = () => {
    // The alignment may say that the number of a memory follows.
    skips(number() & 0x40 ? 2 : 1);
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const length = number();
    if (section !== 10) {
      at += length;
      continue;
    }
    for (let functions = number(); functions > 0; functions--) {
      const size = number();
      const end = at + size;
      for (let locals = number(); locals > 0; locals--) skips(2);
      while (at < end) {
        const start = at;
        const code = bytes[at++];
        if (code === VECTORS) {
          const found = number();
          yield { number: found, at: start };
          if (found <= 11 || found === 92 || found === 93) address();
          else if (found === 12 || found === 13) at += 16;
          else if (found >= 21 && found <= 34) at++;
          else if (found >= 84 && found <= 91) address(), at++;
        } else if (code === 0xfc) {
          const found = number();
          skips(found < 8 ? 0 : [8, 10, 12, 14].includes(found) ? 2 : 1);
        } else if (code === 0x0e || code === 0x1c) {
          // A table of labels has one more; types of a choice have not.
          skips(number() + (code === 0x0e ? 1 : 0));
        } else if (code >= 0x28 && code <= 0x3e) {
          address();
        } else if (code === 0x43) {
          at += 4;
        } else if (code === 0x44) {
          at += 8;
        } else if (code === 0x11 || code === 0x13) {
          skips(2);
        } else if (isFollowed(code)) {
          skip();
        }
      }
    }
  }
}

/** True if one number follows an instruction. */
const isFollowed = (code) =>
  (code >= 0x02 && code <= 0x04) || code === 0x0c || code === 0x0d || code === 0x10 || code === 0x12 ||
  (code >= 0x20 && code <= 0x26) || (code >= 0x3f && code <= 0x42) || code === 0xd0 || code === 0xd2;
