// The whole graph in small, with what of it shows.

class Minimap {
  /** Draws in `parent`; a click or a drag in it moves the graph. */
  constructor(graph, parent) {
    this.graph = graph;
    this.boxes = svg("g");
    this.window = svg("rect", { class: "window" });
    this.element = svg("svg", { class: "minimap", "aria-hidden": true }, this.boxes, this.window);
    parent.append(this.element);
    const move = (event) => {
      if (event.buttons) this.moveTo(event);
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      this.moveTo(event);
    });
    this.element.addEventListener("pointermove", move);
  }

  moveTo({ clientX, clientY }) {
    const point = new DOMPoint(clientX, clientY);
    const { x, y } = point.matrixTransform(this.element.getScreenCTM().inverse());
    const { frame, zoom } = this.graph;
    frame.call(zoom.translateTo, x, y);
  }

  /** Draws what is open. */
  draw() {
    const { root } = this.graph.program;
    const { width, height } = this.graph.places(root);
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const boxes = [];
    const add = (group, left, top) => {
      for (const [node, { x, y }] of this.graph.places(group).of) {
        const place = { x: left + x, y: top + y };
        const { width, height } = this.graph.places(node);
        const kind = node.isOpen ? "open" : `closed ${this.graph.family(node)}`;
        boxes.push(svg("rect", { ...place, width, height, class: kind }));
        if (node.isOpen) add(node, place.x, place.y);
      }
    };
    add(root, 0, 0);
    this.boxes.replaceChildren(...boxes);
    this.moved();
  }

  /** Draws what shows. */
  moved() {
    const { element } = this.graph;
    const { x, y, k } = libraries.zoomTransform(element);
    const { clientWidth, clientHeight } = element;
    const place = { x: -x / k, y: -y / k, width: clientWidth / k, height: clientHeight / k };
    for (const [name, value] of Object.entries(place)) this.window.setAttribute(name, value);
  }
}
