/* Small parts of the page. Whatever came in records gets in as text, never as markup. */
const byId = id => document.getElementById(id);

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'onclick') element.addEventListener('click', value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter(c => c !== null && c !== undefined && c !== ''));
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const MARKS = ['·', '✓', '–', '!', '?', '✕'];
const verdictClass = verdict => verdict === SKIP ? 'skip-v' : VERDICTS[verdict];
const badge = (verdict, word) =>
  el('span', { class: 'badge ' + verdictClass(verdict) }, MARKS[verdict] + ' ' + (word || VERDICTS[verdict]));

const nodeWord = node => !node.verdict ? 'not judged' : !node.isConcluded || node.verdict === WARN ? VERDICTS[node.verdict]
  : node.verdict === PASS ? (node.isCertified ? 'certified' : 'passed') : node.verdict === FAIL ? (node.isSuspect ? 'suspect' : 'failed') : 'unknown';

/* Three significant digits, no exponents: 0.0417, 14.3, 196, 48200 */
function figure(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value), digits = size >= 100 ? 0 : Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(size))));
  return value.toFixed(digits);
}
/* 198 Mb/s, 48.7 Gb/s */
function withUnit(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  return unit === 'Mb/s' && Math.abs(value) >= 1000 ? figure(value / 1000) + ' Gb/s' : figure(value) + ' ' + unit;
}
const plural = (count, word) => count + ' ' + word + (count === 1 ? '' : 's');
function dateText(seconds) {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? '–' : date.toISOString().replace('T', ' ').slice(0, 16) + ' UTC';
}
function partMessage(part, message) {
  return !part || message.startsWith(part) ? message : part + (message ? ': ' + message : '');
}

const changeText = ([fact, before, after]) => `${fact}: ${before} → ${after}`;

const nodeButton = name => nodeByName.has(name)
  ? el('button', { type: 'button', class: 'link', onclick: () => showNode(name, true) }, name) : name;

/* A group of buttons of which one is pressed. */
function choices(parent, names, chosen, choose) {
  const buttons = names.map(([value, text]) => el('button', {
    type: 'button', 'aria-pressed': String(value === chosen), 'data-value': value,
    onclick: () => { buttons.forEach(b => b.setAttribute('aria-pressed', String(b.dataset.value === String(value)))); choose(value); },
  }, text));
  parent.replaceChildren(...buttons);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
const colourListeners = [];
function themeStart() {
  const buttons = [...document.querySelectorAll('[data-theme-choice]')];
  const set = choice => {
    if (choice === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    buttons.forEach(b => b.setAttribute('aria-pressed', String(b.dataset.themeChoice === choice)));
    try { localStorage.setItem('muster-theme', choice); } catch (e) { /* a page from a file has none */ }
    colourListeners.forEach(listener => listener());
  };
  let stored = null;
  try { stored = localStorage.getItem('muster-theme'); } catch (e) { /* as above */ }
  buttons.forEach(b => b.addEventListener('click', () => set(b.dataset.themeChoice)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => colourListeners.forEach(l => l()));
  set(stored === 'light' || stored === 'dark' ? stored : 'auto');
}

/* Fills the table's body with the first rows, and the others on request. Returns the table, and the
 * button if there are more. */
function tableOf(table, list, rowOf, first, moreId) {
  const add = rows => rows.forEach(item => table.tBodies[0].append(rowOf(item))), parts = [el('div', { class: 'scroll' }, table)];
  table.tBodies[0].replaceChildren();
  add(list.slice(0, first));
  if (list.length > first) {
    const more = el('button', { type: 'button', id: moreId, onclick: () => { add(list.slice(first)); more.remove(); } }, 'Show all ' + list.length);
    parts.push(el('p', {}, more));
  }
  return parts;
}

function headRow(table, names) {
  table.tHead.replaceChildren(el('tr', {}, ...names.map(([text, cls]) => text ? el('th', { scope: 'col', class: cls }, text) : el('td'))));
}
