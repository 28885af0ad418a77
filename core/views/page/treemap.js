// The map of a folder: what is in it as areas of its size, squarified (Bruls, Huizing, van Wijk 2000).

const most_areas = 240;
const smallest_side = 3;

// Colours of equal lightness, so that black text can be read on all of them; by the order of the dtypes.
const colours = ["#8fb8ed", "#f3b27a", "#8ed1a6", "#e59aa9", "#c3aee6", "#d8c46a", "#7fcfd1", "#d3a98b", "#b5bdc6", "#a9cf6f"];
const colourOf = (dtype) => colours[dtype % colours.length];

// Gives each item of [{weight}], largest first, its {x, y, width, height} in a rectangle.
const squarify = (items, { x, y, width, height }) => {
  const total = items.reduce((sum, item) => sum + item.weight, 0);
  const placed = [];
  let left = total;
  for (let begin = 0; begin < items.length && width > 0 && height > 0 && left > 0;) {
    const side = Math.min(width, height);
    const scale = width * height / left;
    let end = begin;
    let sum = 0;
    let worst = Infinity;
    while (end < items.length) {  // a row grows for as long as its areas become squarer
      const next = sum + items[end].weight;
      const length = next * scale / side;
      const thinnest = items[end].weight * scale / length;
      const thickest = items[begin].weight * scale / length;
      const now = Math.max(length / thinnest, thickest / length, thinnest / length, length / thickest);
      if (now > worst) break;
      [worst, sum] = [now, next];
      ++end;
    }
    const length = Math.min(sum * scale / side, Math.max(width, height));
    let at = 0;
    for (const item of items.slice(begin, end)) {
      const extent = item.weight / sum * side;
      placed.push(width >= height
        ? { item, x, y: y + at, width: length, height: extent }
        : { item, x: x + at, y, width: extent, height: length });
      at += extent;
    }
    if (width >= height) [x, width] = [x + length, width - length];
    else [y, height] = [y + length, height - length];
    left -= sum;
    begin = end;
  }
  return placed;
};

// The largest, and the others as one.
const weighed = (node, measure) => {
  const items = node.children.map((child) => ({ node: child, weight: child[measure] }))
    .filter((item) => item.weight > 0).sort((a, b) => b.weight - a.weight);
  if (items.length <= most_areas) return items;
  const others = items.slice(most_areas - 1);
  return [...items.slice(0, most_areas - 1), { others: others.length, weight: others.reduce((sum, o) => sum + o.weight, 0) }]
    .sort((a, b) => b.weight - a.weight);
};

const put = (made, { x, y, width, height }) => {
  Object.assign(made.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
  return made;
};

const name_height = 18;  // of a line in an area within another

// What is in a folder, and some levels of what is in that; with names where there is room.
const drawInside = (map, node, measure, rectangle, levels) => {
  for (const area of squarify(weighed(node, measure), rectangle)) {
    if (Math.min(area.width, area.height) < 4) continue;
    const child = area.item.node;
    const box = element("span", { class: "inner", "aria-hidden": "true" });
    if (child) box.style.background = colourOf(child.dtype);
    map.append(put(box, area));
    if (!child) continue;
    const isFolder = child.tensor < 0;
    const isNamed = area.width > 34 && area.height > name_height + (isFolder ? 14 : 0);
    if (isNamed) box.append(named(child.name + (isFolder ? "/" : "")));
    if (isFolder && levels > 1 && area.width > 24 && area.height > 24) {
      const top = isNamed ? name_height : 2;
      const inside = { x: area.x + 2, y: area.y + top, width: area.width - 4, height: area.height - top - 2 };
      drawInside(map, child, measure, inside, levels - 1);
    }
  }
};

// Keeps the focus where it was: on the same area, or on that of the folder that was left, or else on the first.
const keepFocus = (map, last) => {
  const areas = [...map.querySelectorAll("button")];
  const kept = areas.find(({ dataset: { path } }) => last !== undefined && (last === path || last.startsWith(`${path}/`)));
  const first = kept ?? areas[0];
  if (first) first.tabIndex = 0;
  if (last !== undefined) first?.focus();
};

const drawMap = (map, node, measure, open) => {
  const last = map.contains(document.activeElement) ? document.activeElement.dataset.path : undefined;
  const size = (item) => (measure === "nbytes" ? bytesText(item.weight) : `${countText(item.weight)} parameters`);
  const areas = squarify(weighed(node, measure), { x: 0, y: 0, width: map.clientWidth, height: map.clientHeight });
  map.replaceChildren(...areas.filter((area) => Math.min(area.width, area.height) >= smallest_side).map((area) => {
    const { item } = area;
    if (item.others) {
      const text = `${withCommas(item.others)} others`;
      return put(element("div", { class: "area", title: `${text}, ${size(item)}` }, element("span", {}, text)), area);
    }
    const child = item.node;
    const isFolder = child.tensor < 0;
    const title = `${visible(child.name)}${isFolder ? "/" : ""}, ${size(item)}`;
    const made = element("button", {
      class: "area", title, "aria-label": title, tabindex: -1, "data-path": child.path, onclick: () => open(child),
    });
    made.style.background = colourOf(child.dtype);
    if (isFolder && area.width > 44 && area.height > 60) {
      drawInside(made, child, measure, { x: 3, y: 38, width: area.width - 8, height: area.height - 43 }, 3);
    }
    if (area.width > 30 && area.height > 22) made.append(element("span", { class: "name" }, named(child.name + (isFolder ? "/" : ""))));
    if (area.width > 56 && area.height > 38) made.append(element("span", {}, size(item)));
    return put(made, area);
  }));
  if (areas.length === 0) map.append(element("p", { class: "quiet" }, "Nothing in here has any bytes."));
  keepFocus(map, last);
};

// Arrows move through the map, which is one stop of the Tab key: to the nearest area on that side.
const moveInMap = (map, event) => {
  const side = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const from = document.activeElement;
  if (!side || !map.contains(from)) return;
  event.preventDefault();
  const middle = (area) => [area.offsetLeft + area.offsetWidth / 2, area.offsetTop + area.offsetHeight / 2];
  const [x, y] = middle(from);
  let [nearest, least] = [null, Infinity];
  for (const area of map.querySelectorAll("button")) {
    const [dx, dy] = [middle(area)[0] - x, middle(area)[1] - y];
    const along = dx * side[0] + dy * side[1];
    const aside = Math.abs(dx * side[1]) + Math.abs(dy * side[0]);
    const gap = side[0] === 0 ? (side[1] < 0 ? from.offsetTop - area.offsetTop - area.offsetHeight : area.offsetTop - from.offsetTop - from.offsetHeight)
      : (side[0] < 0 ? from.offsetLeft - area.offsetLeft - area.offsetWidth : area.offsetLeft - from.offsetLeft - from.offsetWidth);
    if (area === from || along <= 0 || gap < -1 || gap + aside >= least) continue;
    [nearest, least] = [area, gap + aside];
  }
  if (!nearest) return;
  from.tabIndex = -1;
  nearest.tabIndex = 0;
  nearest.focus();
};

const drawLegend = (legend, node) => {
  const dtypes = new Set();
  for (let i = node.begin; i < node.end && dtypes.size < data.dtypes.length; ++i) dtypes.add(data.dtype[i]);
  legend.replaceChildren(...[...dtypes].sort((a, b) => a - b).map((dtype) => {
    const patch = element("i", {});
    patch.style.background = colourOf(dtype);
    return element("li", {}, patch, data.dtypes[dtype]);
  }));
};
