/* The table of verdicts. */
const PAGE = 200;
const COLUMNS = [['verdict', 'Verdict'], ['node', 'Node'], ['test', 'Test'], ['part', 'Part'], ['value', 'Value'], ['limit', 'Limit'], ['message', 'Message']];
const listing = { shown: new Set([FAIL, UNKNOWN, WARN]), text: '', sort: 'verdict', isDescending: true, room: PAGE };
const collator = new Intl.Collator('en', { numeric: true });

function matching() {
  const words = listing.text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(r => listing.shown.has(r.verdict) && words.every(w => (r.haystack ??=
    [r.suite, r.test, r.metric, r.node, r.part, r.peer, r.source, r.message, VERDICTS[r.verdict]].join(' ').toLowerCase()).includes(w)));
}

function compare(a, b) {
  const x = a[listing.sort], y = b[listing.sort];
  if (typeof x === 'string') return collator.compare(x, y);
  return x === y ? 0 : x === null ? -1 : y === null ? 1 : x - y;
}

function verdictsDraw() {
  const list = matching().sort((a, b) => (listing.isDescending ? -1 : 1) * compare(a, b) || collator.compare(a.node, b.node));
  const table = byId('verdict-table');
  table.tHead.replaceChildren(el('tr', {}, ...COLUMNS.map(([field, title]) => el('th', {
    scope: 'col', class: field === 'value' || field === 'limit' ? 'num' : null,
    'aria-sort': listing.sort === field ? (listing.isDescending ? 'descending' : 'ascending') : 'none',
  }, el('button', { type: 'button', 'data-sort': field, onclick: () => {
    listing.isDescending = listing.sort === field ? !listing.isDescending : field === 'verdict';
    listing.sort = field;
    verdictsDraw();
    table.querySelector(`[data-sort=${field}]`).focus();
  } }, title)))));
  table.tBodies[0].replaceChildren(...list.slice(0, listing.room).map(r => el('tr', {},
    el('td', {}, badge(r.verdict)), el('td', {}, nodeButton(r.node), r.peer ? ' – ' : '', r.peer ? nodeButton(r.peer) : ''),
    el('td', {}, r.test, r.metric ? ' ' : '', r.metric ? el('span', { class: 'muted' }, r.metric) : ''), el('td', {}, r.part),
    el('td', { class: 'num' }, r.value === null ? '' : withUnit(r.value, r.unit)),
    el('td', { class: 'num' }, r.limit === null ? '' : withUnit(r.limit, r.unit), r.source ? el('div', { class: 'muted small' }, r.source) : ''),
    el('td', { class: 'text' }, r.message))));
  byId('verdict-count').textContent = list.length > listing.room ? `${listing.room} of ${plural(list.length, 'verdict')}` : plural(list.length, 'verdict');
  byId('more').hidden = list.length <= listing.room;
}

function verdictsStart() {
  const counts = VERDICTS.map((_, v) => rows.filter(r => r.verdict === v).length);
  if (!counts[FAIL] && !counts[UNKNOWN] && !counts[WARN]) listing.shown = new Set([PASS, SKIP]);
  byId('verdict-choice').replaceChildren(...[FAIL, UNKNOWN, WARN, PASS, SKIP].map(verdict => {
    const button = el('button', { type: 'button', 'aria-pressed': String(listing.shown.has(verdict)), 'data-verdict': VERDICTS[verdict], onclick: () => {
      if (!listing.shown.delete(verdict)) listing.shown.add(verdict);
      button.setAttribute('aria-pressed', String(listing.shown.has(verdict)));
      listing.room = PAGE;
      verdictsDraw();
    } }, `${MARKS[verdict]} ${VERDICTS[verdict]} ${counts[verdict]}`);
    return button;
  }));
  byId('filter').addEventListener('input', event => { listing.text = event.target.value; listing.room = PAGE; verdictsDraw(); });
  byId('more').addEventListener('click', () => { listing.room += PAGE; verdictsDraw(); });
  verdictsDraw();
}
