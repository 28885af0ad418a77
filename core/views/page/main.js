// The page: its parts, and the place that the address names after '#': "" and "/folder" for tensors, "=tensor" for one of
// them, "metadata", "problems".

const panels = ["tensors", "metadata", "problems"];
const search = byId("search");
let folder = root;
let measure = "nbytes";
let reading = new AbortController();

const isMany = data.rests.length !== 1;
document.title = visible(data.model);
byId("model").append(named(data.model));
byId("summary").append(
  pair(isMany ? "tensors" : "tensor", withCommas(count)), pair("parameters", countText(root.parameters)),
  pair("size", bytesText(root.nbytes)), pair("format", data.format),
  pair(data.shards.length === 1 ? "file" : "files", withCommas(data.shards.length)));
byId("tab-problems").hidden = data.problems.length + data.notes.length === 0;
byId("tab-problems").textContent = data.problems.length === 0 ? "Notes" : `Problems (${data.problems.length})`;

const go = (place) => { location.hash = place; };
const open = (node) => go(node.tensor < 0 ? `/${urlOf(node.path)}` : `=${urlOf(node.path)}`);
const table = new Table((i) => go(`=${urlOf(data.paths[i])}`));

const showTab = (name) => {
  for (const panel of panels) {
    const isShown = panel === name;
    const part = byId(`panel-${panel}`);
    part.hidden = !isShown;
    const tab = byId(`tab-${panel}`);
    tab.setAttribute("aria-selected", isShown ? "true" : "false");
    tab.tabIndex = isShown ? 0 : -1;
    if (!isShown || part.childElementCount !== 0) continue;
    if (panel === "metadata") showMetadata(part);
    if (panel === "problems") showProblems(part);
  }
};

const draw = () => {
  drawMap(byId("map"), folder, measure, open);
  drawLegend(byId("legend"), folder);
};

const find = () => {
  table.search(folder, search.value);
  byId("count").textContent = `${withCommas(table.shown.length)} of ${withCommas(folder.end - folder.begin)}`;
};

const showFolder = (path) => {
  const found = folderAt(path);
  const wasCrumb = byId("crumbs").contains(document.activeElement);
  if (found !== folder || byId("crumbs").childElementCount === 0) {
    folder = found;
    const names = folder.path === "" ? [] : folder.path.split("/");
    const crumbs = [["all tensors", ""], ...names.map((name, n) => [name, names.slice(0, n + 1).join("/")])];
    byId("crumbs").replaceChildren(...crumbs.map(([name, to], n) => element("li", {}, n + 1 === crumbs.length
      ? element("span", { "aria-current": "location" }, named(name))
      : element("button", { onclick: () => go(`/${urlOf(to)}`) }, named(name)))));
    find();
  }
  draw();
  if (wasCrumb) byId("map").querySelector("[tabindex='0']")?.focus();
};

const hideDetails = () => {
  reading.abort();
  if (byId("details").contains(document.activeElement)) table.grid.focus();
  byId("details").hidden = true;
  byId("body").classList.remove("with-details");
};

const showDetails = (i) => {
  hideDetails();
  reading = new AbortController();
  const link = (to, text) => element("a", { href: to }, text);
  const numbers = element("div", {});
  byId("details").replaceChildren(
    element("button", { class: "close", "aria-label": "Close", onclick: () => go(`/${urlOf(folder.path)}`) }, "×"),
    element("h2", {}, named(nameOf(i))),
    element("dl", {},
      pair("dtype", dtypeOf(i)), pair("shape", shapeText(shapeOf(i))), pair("parameters", withCommas(parametersOf(i))),
      pair("bytes", withCommas(data.nbytes[i])), pair("file", named(data.shards[data.shard[i]])),
      pair("offset", data.offset[i] < 0 ? "none: its elements lie apart" : offsetText(i))),
    ...(data.is_mount ? [element("div", { class: "links" },
      link(`../${elementsUrl(i)}`, "elements"), link(`npy/${arrayUrl(i)}`, ".npy"), link(`f32/${arrayUrl(i)}`, ".npy, widened"))] : []),
    numbers);
  byId("details").hidden = false;
  byId("body").classList.add("with-details");
  // In a narrow window they stand above the table.
  if (matchMedia("(max-width: 900px)").matches) byId("details").scrollIntoView();
  const { signal } = reading;
  showNumbers(numbers, i, signal).catch((error) => {
    if (!signal.aborted) numbers.replaceChildren(element("p", { class: "quiet" }, error.message));
  });
};

const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const show = () => {
  const place = location.hash.slice(1);
  const path = decoded(place.slice(1));
  if (place === "metadata" || place === "problems") {
    showTab(place);
    return;
  }
  showTab("tensors");
  const i = place.startsWith("=") ? data.paths.indexOf(path) : -1;
  if (i >= 0) {
    if (byId("crumbs").childElementCount === 0) showFolder("");
    showDetails(i);
    draw();
  } else {
    hideDetails();
    showFolder(path);
  }
};

byId("tabs").addEventListener("click", (event) => {
  const panel = event.target.getAttribute("aria-controls")?.replace("panel-", "");
  if (panel) go(panel === "tensors" ? `/${urlOf(folder.path)}` : panel);
});
byId("tabs").addEventListener("keydown", (event) => {
  const tabs = panels.map((panel) => byId(`tab-${panel}`)).filter((tab) => !tab.hidden);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
});
byId("map").addEventListener("keydown", (event) => moveInMap(byId("map"), event));
byId("measure").addEventListener("change", (event) => {
  measure = event.target.value;
  draw();
});
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "ArrowDown") {
    table.grid.focus();
    table.choose(0, false);
    event.preventDefault();
  }
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement && event.target.type !== "radio";
  if (event.key === "/" && !isTyping) {
    search.focus();
    event.preventDefault();
  } else if (event.key === "Escape" && isTyping && event.target.value !== "") {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
  } else if (event.key === "Escape" && !byId("details").hidden) {
    go(`/${urlOf(folder.path)}`);
  } else if (event.key === "Escape" && folder !== root && !isTyping) {
    go(`/${urlOf(folder.path.split("/").slice(0, -1).join("/"))}`);
  }
});
new ResizeObserver(() => draw()).observe(byId("map"));
addEventListener("hashchange", show);
show();
document.documentElement.dataset.ready = Math.round(performance.now());
