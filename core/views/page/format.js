// Numbers and names as text, and elements of the page. Whatever comes from the model becomes text, never markup.

const withCommas = (number) => Math.trunc(number).toLocaleString("en-US");

const scaled = (number, step, units) => {
  let unit = 0;
  while (number >= step && unit + 1 < units.length) {
    number /= step;
    ++unit;
  }
  return (unit === 0 ? String(number) : number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0)) + units[unit];
};
const bytesText = (nbytes) => scaled(nbytes, 1000, [" B", " kB", " MB", " GB", " TB"]);
const countText = (number) => scaled(number, 1000, ["", " K", " M", " B", " T"]);

const shapeText = (shape) => shape.length === 0 ? "scalar" : shape.join(" × ");

const numberText = (value) => {
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-4 ? value.toExponential(2) : value.toPrecision(4);
};

// Characters that nobody sees, or that turn the direction of what follows, are shown by their numbers.
const visible = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  (c) => `⟨${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

// element("p", {class: "quiet"}, "text", another)
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

// A name of the model, apart from the direction of what is around it.
const named = (text) => element("bdi", {}, visible(text));

const pair = (term, ...what) => element("div", {}, element("dt", {}, term), element("dd", {}, ...what));

const byId = (id) => document.getElementById(id);

// A path in a URL: each of its names by itself, whatever it holds.
const urlOf = (path) => path.split("/").map(encodeURIComponent).join("/");
