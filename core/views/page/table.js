// The table of tensors: searched, sorted, and only what is seen of it is drawn.

const row_height = 28;
const highest = 30_000_000;  // browsers know no higher elements; more rows share pixels

const by = (value) => (a, b) => value(a) - value(b);

// The place of each value when all are sorted.
const ranksOf = (values, compare) => {
  const ranks = new Array(values.length);
  [...values.keys()].sort((a, b) => compare(values[a], values[b])).forEach((at, rank) => { ranks[at] = rank; });
  return ranks;
};
const dtypeRanks = ranksOf(data.dtypes, (a, b) => a < b ? -1 : 1);
// By the number of dimensions, then by these, outermost first.
const shapeRanks = ranksOf(data.shapes, (a, b) => {
  const at = a.findIndex((dim, n) => dim !== b[n]);
  return a.length - b.length || (at < 0 ? 0 : a[at] - b[at]);
});

// "wide" columns are left out of narrow windows, and "place", which the details have, also beside these.
const columns = [
  { title: "Name", compare: (a, b) => a - b, cell: (i, table) => named(table.nameIn(i)) },  // as they stand: in natural order
  { title: "Dtype", compare: by((i) => dtypeRanks[data.dtype[i]]), cell: (i) => dtypeOf(i) },
  { title: "Shape", compare: by((i) => shapeRanks[data.shape[i]]), cell: (i) => shapeText(shapeOf(i)), kind: "wide" },
  { title: "Parameters", compare: by(parametersOf), cell: (i) => withCommas(parametersOf(i)), kind: "wide number", falls: true },
  { title: "Bytes", compare: by((i) => data.nbytes[i]), cell: (i) => bytesText(data.nbytes[i]), kind: "number", falls: true },
  { title: "File", compare: by((i) => data.shard[i]), cell: (i) => named(data.shards[data.shard[i]]), kind: "wide place" },
  { title: "Offset", compare: by((i) => data.offset[i]), cell: offsetText, kind: "wide place number" },
];

class Table {
  constructor(open) {
    this.open = open;
    this.grid = byId("table");
    this.rows = byId("rows");
    this.room = this.rows.appendChild(element("div", { role: "presentation" }));
    this.order = { column: 0, down: false };
    this.chosen = -1;  // position in shown
    this.shown = [];
    byId("heads").append(...columns.map((column, number) => element("div",
      { role: "columnheader", class: column.kind },
      element("button", { onclick: () => this.sort(number) }, column.title))));
    this.rows.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(this.rows);
  }

  // Shows the tensors of a folder that have all the words in their names, dtypes or shapes.
  search({ begin, end, path }, text) {
    this.skipped = path.length;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    for (let i = begin; i < end; ++i) {
      if (words.length !== 0) {
        const row = `${nameOf(i)} ${dtypeOf(i)} ${shapeOf(i).join("x")} [${shapeOf(i)}]`.toLowerCase();
        if (!words.every((word) => row.includes(word))) continue;
      }
      found.push(i);
    }
    this.shown = found;
    this.chosen = -1;
    this.rows.scrollTop = 0;
    this.arrange();
  }

  // A tensor's name, without what all names of the folder begin with.
  nameIn(i) {
    return data.names[i] === 0 && this.skipped > 0 ? `…${nameOf(i).slice(this.skipped)}` : nameOf(i);
  }

  sort(column) {
    this.order = { column, down: this.order.column === column ? !this.order.down : columns[column].falls === true };
    this.chosen = -1;
    this.arrange();
  }

  arrange() {
    const { column, down } = this.order;
    const { compare } = columns[column];
    this.shown.sort(down ? (a, b) => compare(b, a) || a - b : (a, b) => compare(a, b) || a - b);
    [...byId("heads").children].forEach((head, number) => {
      if (number === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.grid.setAttribute("aria-rowcount", this.shown.length + 1);
    this.room.style.height = `${Math.min(this.shown.length * row_height, highest)}px`;
    this.draw();
  }

  // How many rows a pixel of scrolling is.
  get step() {
    const height = this.rows.clientHeight;
    const whole = this.shown.length * row_height;
    return whole <= highest ? 1 / row_height : (this.shown.length - height / row_height) / (highest - height);
  }

  draw() {
    const first = Math.floor(this.rows.scrollTop * this.step);
    const behind = Math.min(this.shown.length, first + Math.ceil(this.rows.clientHeight / row_height) + 2);
    const isWhole = this.shown.length * row_height <= highest;
    const top = isWhole ? first * row_height : this.rows.scrollTop;
    const made = [];
    for (let at = first; at < behind; ++at) {
      const i = this.shown[at];
      const row = element("div", {
        role: "row", id: `row-${at}`, "aria-rowindex": at + 2, "aria-selected": at === this.chosen ? "true" : "false",
        onclick: () => {
          this.grid.focus({ preventScroll: true });
          this.choose(at, true);
        },
      }, ...columns.map((column) => element("div", { role: "gridcell", class: column.kind }, column.cell(i, this))));
      row.firstChild.title = visible(nameOf(i));
      row.style.top = `${top + (at - first) * row_height}px`;
      made.push(row);
    }
    this.room.replaceChildren(...made);
    if (this.chosen >= first && this.chosen < behind) this.grid.setAttribute("aria-activedescendant", `row-${this.chosen}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  choose(at, opens) {
    if (this.shown.length === 0) return;
    this.chosen = Math.max(0, Math.min(at, this.shown.length - 1));
    const seen = this.rows.clientHeight / row_height;
    const first = this.rows.scrollTop * this.step;
    if (this.chosen < first) this.rows.scrollTop = this.chosen / this.step;
    else if (this.chosen + 1 > first + seen) this.rows.scrollTop = (this.chosen + 1 - seen) / this.step;
    this.draw();
    if (opens) this.open(this.shown[this.chosen]);
  }

  press(event) {
    if (event.target instanceof HTMLButtonElement) return;  // a column's head
    const page = Math.max(1, Math.floor(this.rows.clientHeight / row_height) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.choose(this.chosen < 0 ? 0 : this.chosen + moves[event.key], false);
    else if (event.key === "Home") this.choose(0, false);
    else if (event.key === "End") this.choose(this.shown.length - 1, false);
    else if (event.key === "Enter" && this.chosen >= 0) this.choose(this.chosen, true);
    else return;
    event.preventDefault();
  }
}
