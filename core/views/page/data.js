// The model: tensors in columns, and the folders that their paths make.

const json = (id, reviver) => JSON.parse(document.getElementById(id).textContent, reviver);
const data = json("tensors-data");
const count = data.rests.length;

data.paths = new Array(count);
{
  let last = [];
  for (let i = 0; i < count; ++i) {
    const rest = data.rests[i].split("/");
    last = last.slice(0, data.folders[i]).concat(rest);
    data.paths[i] = last.join("/");
  }
}
// URLs of files that do not follow from their paths, of the tensor's elements and of its arrays.
const links = new Map(data.links.map(([i, ...urls]) => [i, urls]));
const elementsUrl = (i) => links.get(i)?.[0] ?? urlOf(data.paths[i]);
const arrayUrl = (i) => links.get(i)?.[1] ?? `${urlOf(data.paths[i])}.npy`;
// Where one dimension is 0, the others may be of any size.
const productOf = (shape) => shape.includes(0) ? 0 : shape.reduce((product, dim) => product * dim, 1);
data.elements = data.shapes.map(productOf);
const parametersOf = (i) => data.elements[data.shape[i]];
const nameOf = (i) => data.names[i] === 0 ? data.paths[i].replaceAll("/", ".") : data.names[i];
const shapeOf = (i) => data.shapes[data.shape[i]];
const offsetText = (i) => data.offset[i] < 0 ? "none" : withCommas(data.offset[i]);
const dtypeOf = (i) => data.dtypes[data.dtype[i]];

// What is below a path. Tensors stand depth first, so that a folder is a range of them; `tensor` is -1 for a folder.
class Node {
  constructor(name, path, begin, end, tensor) {
    Object.assign(this, { name, path, begin, end, tensor, nbytes: 0, parameters: 0, dtype: 0 });
    if (tensor >= 0) {
      Object.assign(this, { nbytes: data.nbytes[tensor], parameters: parametersOf(tensor), dtype: data.dtype[tensor] });
      return;
    }
    const bytes = new Map();
    for (let i = begin; i < end; ++i) {
      this.nbytes += data.nbytes[i];
      this.parameters += parametersOf(i);
      bytes.set(data.dtype[i], (bytes.get(data.dtype[i]) ?? 0) + data.nbytes[i]);
    }
    let most = -1;  // the dtype that has most of the bytes
    for (const [dtype, of] of bytes) if (of > most) [most, this.dtype] = [of, dtype];
  }

  get children() {
    if (this.known) return this.known;
    const children = [];
    const from = this.path === "" ? 0 : this.path.length + 1;
    for (let i = this.begin; this.tensor < 0 && i < this.end;) {
      const path = data.paths[i];
      const slash = path.indexOf("/", from);
      let end = i + 1;
      if (slash >= 0) {
        const folder = path.slice(0, slash + 1);
        while (end < this.end && data.paths[end].startsWith(folder)) ++end;
      }
      const own = slash < 0 ? path : path.slice(0, slash);
      children.push(new Node(own.slice(from), own, i, end, slash < 0 ? i : -1));
      i = end;
    }
    return this.known = children;
  }
}

const root = new Node("", "", 0, count, -1);

// The folder of that path; a folder above it where there is none.
const folderAt = (path) => {
  let node = root;
  for (const name of path === "" ? [] : path.split("/")) {
    const next = node.children.find((child) => child.name === name && child.tensor < 0);
    if (!next) break;
    node = next;
  }
  return node;
};
