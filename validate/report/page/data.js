/* The data of the page: what validate/report/html.c wrote, unpacked. */
const D = JSON.parse(document.getElementById('data').textContent);
const VERDICTS = ['none', 'pass', 'skip', 'warn', 'unknown', 'fail'];
const FAIL = 5, UNKNOWN = 4, WARN = 3, SKIP = 2, PASS = 1;
const ZERO = 65535, ABSENT = 65534;

/* What stands under a name of records: a node may be called "constructor", which each object has. */
const named = (object, name) => Object.hasOwn(object, name) ? object[name] : undefined;

const nodes = D.nodes.map((n, index) => ({
  index, name: n[0], leaf: n[1], verdict: n[2], isConcluded: n[3] === 1, isCertified: n[4] === 1,
  expires: n[5], part: n[6], message: n[7], advice: n[8], isSuspect: n[9] === 1,
}));
const nodeByName = new Map(nodes.map(n => [n.name, n]));
const N = nodes.length;

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/* The pairs that were measured, by sender and then by receiver: those of a sender are from its start
 * to the next one's, `to` their receivers. A large cluster measures a few of its millions of pairs. */
class Pairs {
  constructor(mask, count) {
    this.from = new Uint32Array(count); this.to = new Uint32Array(count); this.start = new Uint32Array(N + 1);
    let cell = 0, at = 0;
    mask.forEach((length, i) => {
      for (const end = cell + length; i % 2 && cell < end; cell++, at++) {
        this.from[at] = cell / N; this.to[at] = cell % N;
        this.start[this.from[at] + 1]++;
      }
      if (i % 2 === 0) cell += length;
    });
    for (let i = 0; i < N; i++) this.start[i + 1] += this.start[i];
  }
  /* Where the pair's figures are, -1: it was not measured. */
  find(from, to) {
    let low = this.start[from], high = this.start[from + 1];
    while (low < high) {
      const middle = low + high >> 1;
      if (this.to[middle] < to) low = middle + 1; else high = middle;
    }
    return low < this.start[from + 1] && this.to[low] === to ? low : -1;
  }
}

/* Codes of 16 bits, low byte first: the logarithm between least and greatest, so that each figure is
 * good to 1 in 2,000 at least over six orders of magnitude. */
function decode(packed, base64) {
  const bytes = bytesOf(base64), values = new Float32Array(packed.count);
  for (let i = 0; i < values.length; i++) {
    const code = bytes[2 * i] | bytes[2 * i + 1] << 8;
    values[i] = code === ZERO ? 0 : code === ABSENT ? NaN : Math.exp(packed.origin + code * packed.step);
  }
  return values;
}

/* value, length, value, length, ... over all pairs */
function expand(runs, count) {
  const values = new Uint8Array(count);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    values.fill(runs[i], at, at + runs[i + 1]);
    at += runs[i + 1];
  }
  return values;
}

/* A rail's figures, one a pair of `pairs`; unpacked when they are first looked at. */
class Figures {
  constructor(packed, previous) {
    this.packed = packed; this.median = packed.median; this.reference = packed.reference; this.count = packed.count;
    this.previous = packed.mask ? null : previous;
  }
  get pairs() { return this.cachedPairs ??= this.previous ? this.previous.pairs : new Pairs(this.packed.mask, this.count); }
  get values() { return this.cachedValues ??= decode(this.packed, this.packed.values); }
  get low() { return this.packed.low ? (this.cachedLow ??= decode(this.packed, this.packed.low)) : null; }
  get high() { return this.packed.high ? (this.cachedHigh ??= decode(this.packed, this.packed.high)) : null; }
  get verdicts() { return this.cachedVerdicts ??= expand(this.packed.verdicts, this.count); }
  get limitIndex() { return this.cachedLimits ??= expand(this.packed.limit_of, this.count); }
  /* The figure of a pair, NaN: it was not measured. */
  value(from, to) { const at = this.pairs.find(from, to); return at < 0 ? NaN : this.values[at]; }
  limit(at) { const index = this.limitIndex[at]; return index ? this.packed.limits[index - 1] : null; }
  /* The best that each node showed with any partner: [as receiver, as sender]. */
  get best() {
    if (this.cachedBest) return this.cachedBest;
    const best = [new Float32Array(N).fill(NaN), new Float32Array(N).fill(NaN)], { from, to } = this.pairs;
    const take = (list, node, v) => { if (!(list[node] >= v)) list[node] = v; };
    this.values.forEach((v, i) => { take(best[0], to[i], v); take(best[1], from[i], v); });
    return this.cachedBest = best;
  }
  /* The limit that holds for the most pairs: [limit, source] or null. */
  get mainLimit() {
    const counts = new Map();
    this.packed.limit_of.forEach((value, i) => {
      if (i % 2 === 0 && value) counts.set(value, (counts.get(value) || 0) + this.packed.limit_of[i + 1]);
    });
    let best = 0;
    for (const [value, count] of counts) if (!best || count > counts.get(best)) best = value;
    return best ? this.packed.limits[best - 1] : null;
  }
  /* [least, greatest] of those that were measured. */
  get range() {
    if (this.cachedRange) return this.cachedRange;
    let least = Infinity, greatest = -Infinity;
    for (const v of this.values) { if (v < least) least = v; if (v > greatest) greatest = v; }
    return this.cachedRange = [least, greatest];
  }
}

const METRICS = {
  bandwidth: { title: 'Bandwidth', unit: 'Mb/s' },
  latency: { title: 'Latency', unit: 'µs' },
  bandwidth_together: { title: 'All rails at once', unit: 'Mb/s' },
  bandwidth_uplink: { title: 'Uplink full', unit: 'Mb/s' },
  bandwidth_bisection: { title: 'Half against half', unit: 'Mb/s' },
};
let lastFigures = null;
const rails = D.rails.map(packed => {
  const rail = { name: packed.name };
  for (const metric of Object.keys(METRICS)) if (packed[metric]) rail[metric] = lastFigures = new Figures(packed[metric], lastFigures);
  return rail;
});
/* Those of a rail, in the order above. */
const metricsOf = rail => Object.keys(METRICS).filter(metric => rail[metric]);

/* Rows of the table of verdicts: texts are indices of D.texts. */
const FIELDS = ['verdict', 'suite', 'test', 'metric', 'node', 'part', 'peer', 'value', 'unit', 'limit', 'source', 'message', 'code'];
const isText = { suite: 1, test: 1, metric: 1, node: 1, part: 1, peer: 1, unit: 1, source: 1, message: 1, code: 1 };
const rows = D.rows.map(cells => {
  const row = {};
  FIELDS.forEach((field, i) => { row[field] = isText[field] ? D.texts[cells[i]] : cells[i]; });
  return row;
});
