// Metadata: keys and values, and long lists, such as a tokenizer's words, to be searched and scrolled.

const line_height = 22;
const short_list = 8;  // is shown as text

// A list whose entries are drawn as they are seen.
const longList = (values, label) => {
  let shown = null;  // positions; null for all
  const box = element("div", { class: "list", tabindex: "0", role: "list", "aria-label": label });
  const room = box.appendChild(element("div", {}));
  const found = element("output", { class: "quiet" });
  const total = () => (shown ?? values).length;
  const draw = () => {
    const first = Math.floor(box.scrollTop / line_height);
    const end = Math.min(total(), first + Math.ceil(box.clientHeight / line_height) + 1);
    room.replaceChildren(...Array.from({ length: Math.max(0, end - first) }, (_, n) => {
      const at = shown ? shown[first + n] : first + n;
      const line = element("div", { role: "listitem" }, element("b", {}, String(at)), named(textOf(values[at])));
      line.style.top = `${(first + n) * line_height}px`;
      return line;
    }));
  };
  const arrange = (text) => {
    const word = text.toLowerCase();
    shown = word === "" ? null : [...values.keys()].filter((at) => textOf(values[at]).toLowerCase().includes(word));
    room.style.height = `${total() * line_height}px`;
    box.style.height = `${Math.min(220, Math.max(1, total()) * line_height + 2)}px`;
    box.scrollTop = 0;
    found.textContent = `${withCommas(total())} of ${withCommas(values.length)}`;
    draw();
  };
  box.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  const search = element("input", { type: "search", placeholder: "Search this list", "aria-label": `Search ${label}`, autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => arrange(search.value));
  const whole = element("div", {}, element("div", { class: "at" }, search, found), box);
  new ResizeObserver(draw).observe(box);
  arrange("");
  return whole;
};

// Integers that JavaScript's numbers would round stay as they are written, where the browser tells.
const exact = (key, value, context) =>
  (Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source ? context.source : value);

const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const valueOf = (key, value) => {
  if (Array.isArray(value)) {
    if (value.length > short_list) return longList(value, visible(key));
    return named(`[${value.map(textOf).join(", ")}]`);
  }
  const text = textOf(value);
  return text.includes("\n") || text.length > 200 ? element("pre", {}, named(text)) : named(text);
};

const showMetadata = (panel) => {
  const shards = Object.entries(json("metadata-data", exact)).filter(([, pairs]) => Object.keys(pairs).length !== 0);
  if (shards.length === 0) {
    panel.replaceChildren(element("p", { class: "quiet" }, "The files say nothing of themselves."));
    return;
  }
  const search = element("input", { type: "search", placeholder: "Search keys and short values", "aria-label": "Search the metadata", autocomplete: "off", spellcheck: "false" });
  const rows = [];
  const tables = shards.map(([shard, pairs]) => element("div", {},
    element("h3", {}, named(shard)),
    element("table", { class: "pairs" }, element("tbody", {}, ...Object.entries(pairs).map(([key, value]) => {
      const row = element("tr", {}, element("th", { scope: "row" }, named(key)), element("td", {}, valueOf(key, value)));
      rows.push([row, `${key} ${Array.isArray(value) ? "" : textOf(value)}`.toLowerCase()]);
      return row;
    })))));
  search.addEventListener("input", () => {
    const word = search.value.toLowerCase();
    for (const [row, text] of rows) row.hidden = !text.includes(word);
  });
  panel.replaceChildren(element("div", { class: "bar" }, search), ...tables);
};

const showProblems = (panel) => {
  panel.replaceChildren(
    ...data.problems.map((problem) => element("div", { class: "problem" },
      element("h2", {}, problem.kind, problem.tensor === undefined ? "" : ": ", named(problem.tensor ?? "")),
      element("p", {}, named(problem.text)), element("p", { class: "quiet" }, named(problem.path)))),
    ...data.notes.map((note) => element("div", { class: "problem" }, element("p", {}, named(note)))));
};
