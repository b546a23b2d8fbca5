/* The nodes of the job that muster preflight or watch has tested. */
const JOB_FIRST = 64;

/* What muster certify last found of the node. */
function lastCertification(node) {
  const [last] = named(D.past, node.name) || [];
  return last ? [badge(last[2], last[6] ? 'suspect' : ''), ' ' + dateText(last[0])] : ['not in the history'];
}

function certificateText(node) {
  if (!node.isCertified) return 'no certificate is known';
  return (node.expires < D.end ? 'certificate expired ' : 'certified until ') + dateText(node.expires);
}

function jobStart() {
  if (!D.job) return;
  const table = el('table', { class: 'cards', 'aria-labelledby': 'job-h' }, el('thead'), el('tbody'));
  byId('job').hidden = false;
  headRow(table, [['Node'], ['Verdict'], ['Part at fault'], ['Certificate'], ['Last certification']]);
  byId('job-nodes').replaceChildren(...tableOf(table, [...nodes].sort((a, b) => b.verdict - a.verdict), node =>
    el('tr', {}, el('td', {}, nodeButton(node.name)), el('td', {}, badge(node.verdict, nodeWord(node))), el('td', {}, node.verdict >= WARN && partMessage(node.part, node.message) || '–'),
      el('td', {}, certificateText(node)), el('td', {}, ...lastCertification(node))), JOB_FIRST));
}
