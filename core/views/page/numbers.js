// A corner of a tensor's numbers, fetched by range from its file in f32/, and a small picture of them.

const corner = 16;  // rows, and columns
const cell_side = 20;  // pixels of the picture
const most_bytes = 1 << 20;  // of one answer

const readers = {
  "|b1": (view, at) => view.getUint8(at) !== 0, "|u1": (view, at) => view.getUint8(at), "|i1": (view, at) => view.getInt8(at),
  "<u2": (view, at) => view.getUint16(at, true), "<i2": (view, at) => view.getInt16(at, true),
  "<u4": (view, at) => view.getUint32(at, true), "<i4": (view, at) => view.getInt32(at, true),
  "<u8": (view, at) => view.getBigUint64(at, true), "<i8": (view, at) => view.getBigInt64(at, true),
  "<f4": (view, at) => view.getFloat32(at, true), "<f8": (view, at) => view.getFloat64(at, true),
  "<f2": (view, at) => {
    const bits = view.getUint16(at, true);
    const [sign, exponent, rest] = [bits >> 15 ? -1 : 1, bits >> 10 & 31, bits & 1023];
    if (exponent === 31) return rest ? NaN : sign * Infinity;
    return sign * (exponent === 0 ? rest * 2 ** -24 : (1024 + rest) * 2 ** (exponent - 25));
  },
};
const complex = (half, real) => (view, at) => `${numberText(real(view, at))}${numberText(real(view, at + half)).replace(/^(?!-)/, "+")}j`;
readers["<c8"] = complex(4, readers["<f4"]);
readers["<c16"] = complex(8, readers["<f8"]);

// The bytes from `begin` to `end` of a file. A server without ranges would send all of it, so that is not read.
const fetchPart = async (url, begin, end, signal) => {
  const stop = new AbortController();
  signal.addEventListener("abort", () => stop.abort());
  const answer = await fetch(url, { headers: { Range: `bytes=${begin}-${end - 1}` }, signal: stop.signal });
  if (answer.status !== 206) {
    stop.abort();
    throw new Error(answer.ok ? "The server knows no ranges, and the whole file is not fetched."
      : `The server answers ${answer.status} ${answer.statusText}.`);
  }
  return answer.arrayBuffer();
};

// Where an array's data begin, of what type and shape they are (NumPy's format, versions 1 to 3).
const arrayHeader = async (url, signal) => {
  const bytes = await fetchPart(url, 0, 256, signal);
  const view = new DataView(bytes);
  const isFirst = view.getUint8(6) === 1;
  const length = isFirst ? view.getUint16(8, true) : view.getUint32(8, true);
  const from = isFirst ? 10 : 12;
  const whole = from + length <= bytes.byteLength ? bytes : await fetchPart(url, 0, from + length, signal);
  const text = new TextDecoder("latin1").decode(whole.slice(from, from + length));
  const type = /'descr': '([^']+)'/.exec(text)?.[1];
  const shape = /'shape': \(([^)]*)\)/.exec(text)?.[1].split(",").map((dim) => dim.trim()).filter(Boolean).map(Number);
  if (!(type in readers) || !shape) throw new Error("It is an array of a type that is not known here.");
  return { begin: from + length, type, shape, size: Number(type.slice(2)) };
};

// Rows of numbers: the last two dimensions, of which the leading ones are folded into rows.
const fetchCorner = async (url, header, row, column, signal) => {
  const { begin, type, shape, size } = header;
  const width = shape.at(-1) ?? 1;
  const height = shape.slice(0, -1).reduce((product, dim) => product * dim, 1);
  const columns = Math.min(corner, width - column);
  const rows = Math.min(corner, height - row);
  const at = (r, c) => begin + (r * width + c) * size;
  const parse = (buffer, from) => Array.from({ length: columns }, (_, c) => readers[type](new DataView(buffer), from + c * size));
  const [first, end] = [at(row, column), at(row + rows - 1, column + columns)];
  if (end - first <= most_bytes) {
    const all = await fetchPart(url, first, end, signal);
    return Array.from({ length: rows }, (_, r) => parse(all, r * width * size));
  }
  return Promise.all(Array.from({ length: rows }, async (_, r) =>
    parse(await fetchPart(url, at(row + r, column), at(row + r, column + columns), signal), 0)));
};

// Blue below 0, red above, white at 0; NaN and infinities stand out.
const paint = (canvas, rows) => {
  const values = rows.map((row) => row.map(Number));
  const finite = values.flat().filter(Number.isFinite);
  const most = Math.max(...finite.map(Math.abs), Number.MIN_VALUE);
  canvas.width = values[0].length;
  canvas.height = values.length;
  canvas.style.width = `${canvas.width * cell_side}px`;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  values.flat().forEach((value, i) => {
    const part = Number.isFinite(value) ? Math.min(Math.abs(value) / most, 1) : 1;
    const end = !Number.isFinite(value) ? [150, 40, 170] : value < 0 ? [33, 102, 172] : [178, 24, 43];
    image.data.set([...end.map((channel) => 247 + (channel - 247) * part), 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  canvas.setAttribute("aria-label", `Picture of these numbers: blue to ${numberText(-most)}, red to ${numberText(most)}`);
};

// Fills `place` with a tensor's numbers; what is under way ends with `signal`.
const showNumbers = async (place, i, signal) => {
  if (!data.is_mount || location.protocol === "file:") {
    place.replaceChildren(element("p", { class: "quiet" }, data.is_mount
      ? "Numbers are shown where this page comes from a web server: a browser fetches nothing for a page from a file."
      : "Numbers are shown where this page is opened in a mount, through a web server."));
    return;
  }
  const url = `f32/${arrayUrl(i)}`;
  if (data.nbytes[i] === 0) {
    place.replaceChildren(element("p", { class: "quiet" }, "It has no elements."));
    return;
  }
  const head = await arrayHeader(url, signal);
  const width = head.shape.at(-1) ?? 1;
  const height = head.shape.slice(0, -1).reduce((product, dim) => product * dim, 1);
  const grid = element("div", { class: "corner" });
  const picture = element("canvas", { role: "img" });
  const field = (label, most) => element("input", { type: "number", min: 0, max: Math.max(0, most - 1), step: corner, value: 0, "aria-label": label });
  const [row, column] = [field("first row", height), field("first column", width)];
  const note = element("p", { class: "quiet", role: "status" });
  const within = (input) => Math.max(0, Math.min(Math.trunc(Number(input.value)) || 0, Number(input.max)));
  const show = async () => {
    const [r, c] = [within(row), within(column)];
    try {
      const rows = await fetchCorner(url, head, r, c, signal);
      const line = (cells, tag, name) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element(tag, {}, String(cell))));
      grid.replaceChildren(element("table", {},
        element("thead", {}, line(rows[0].map((_, n) => c + n), "th", "")),
        element("tbody", {}, ...rows.map((numbers, n) => line(numbers.map(numberText), "td", r + n)))));
      paint(picture, rows);
      note.textContent = "";
    } catch (error) {
      if (error.name !== "AbortError") note.textContent = error.message;
    }
  };
  for (const input of [row, column]) input.addEventListener("change", show);
  place.replaceChildren(element("div", { class: "at" },
    element("label", {}, "row", row, `of ${withCommas(height)}`),
    element("label", {}, "column", column, `of ${withCommas(width)}`)), note, grid, picture);
  await show();
};
