// What a class needs: a view for the back row, and a guess before each plan.
'use strict';

// ---- Class view: the picture, the sentence and the comparison, in large letters.

byId('tools').hidden = false;

function toggleClassView() {
  const on = document.documentElement.classList.toggle('class-view');
  byId('class-view').setAttribute('aria-pressed', on);
  draw();
}

byId('class-view').addEventListener('click', toggleClassView);
document.addEventListener('keydown', key => {
  if (key.key === 'c' && !key.ctrlKey && !key.metaKey && !key.altKey && !key.target.closest('select')) toggleClassView();
});
byId('to-plan').addEventListener('click', () => goTo(stages.findIndex(hasPlan)));

// ---- Predict first: a plan is hidden until somebody has said what happens to each container.

const happens = { stays: 'it stays as it is', starts: 'an attempt starts', replaced: 'a new attempt replaces it', ends: 'it is stopped or removed' };
const first = byId('predict-first');
const guesses = new Map(); // by plan and container

function hasPlan(stage) { return ['plan', 'wait'].includes(stage.dataset.kind); }

// planned returns what the plan does to the container of a row.
function planned(row) {
  const does = word => [...row.querySelectorAll('.act')].some(act => act.textContent.includes(` ${word} `));
  if (does('create') || does('start')) return does('stop') ? 'replaced' : 'starts';
  return does('stop') || does('remove') ? 'ends' : 'stays';
}

// predict asks below each plan, or tells how the guess was. A patch of the page, and each stage, needs it again.
function predict() {
  byId('to-plan').disabled = !stages.some(hasPlan);
  for (const place of document.querySelectorAll('.predict')) {
    const rows = [...place.parentElement.querySelectorAll('.compare tbody tr')];
    const replays = place.id === 'predict';
    const plan = place.id + (replays ? replayed + '@' + stages.slice(0, Math.floor(at) + 1).findLastIndex(hasPlan) : '');
    const open = first.checked && rows.some(row => row.querySelector('.act'));
    const asks = open && rows.some(row => !guesses.has(plan + nameOf(row)));
    const shows = open ? plan + asks : '';
    if (place.dataset.shows === shows) continue;
    place.dataset.shows = shows;
    place.classList.toggle('asks', asks);
    place.replaceChildren(...open ? rows.map(row => asks ? question(plan, row) : answer(plan, row)) : []);
    if (asks && replays && playing) pause();
  }
}

function nameOf(row) { return row.querySelector('th').firstChild.data.trim(); }

function question(plan, row) {
  const label = document.createElement('label'), select = document.createElement('select');
  select.append(new Option('What happens to it?', ''), ...Object.entries(happens).map(([value, text]) => new Option(text, value)));
  select.value = guesses.get(plan + nameOf(row)) ?? '';
  select.addEventListener('change', () => {
    const place = label.parentElement;
    guesses.set(plan + nameOf(row), select.value);
    predict();
    if (!place.contains(select)) place.focus(); // all is said
  });
  label.append(Object.assign(document.createElement('b'), { textContent: nameOf(row) }), ' ', select);
  return label;
}

function answer(plan, row) {
  const said = guesses.get(plan + nameOf(row)), right = said === planned(row);
  const line = Object.assign(document.createElement('p'), { className: right ? 'good' : 'bad' });
  line.append(Object.assign(document.createElement('b'), { textContent: nameOf(row) }),
    ` You said: ${happens[said]} `, right ? '✓' : `✗ The plan: ${happens[planned(row)]}`);
  return line;
}

first.addEventListener('change', () => {
  guesses.clear();
  predict();
});
new MutationObserver(predict).observe(live, { childList: true, subtree: true });
