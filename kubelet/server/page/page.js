// Keeps the page fresh. Without it the page is the same, as of the moment it was loaded.
'use strict';

const byId = id => document.getElementById(id);
const live = byId('live'), statusLine = byId('status');
const events = byId('events'), eventList = byId('event-list'), eventTemplate = byId('event-template');

// The status line alone is read out by itself; it changes only when its words do.
function say(words, connected) {
  if (statusLine.textContent !== words) statusLine.textContent = words;
  document.body.dataset.connected = connected;
}

// ---- The stream: each event of the kubelet, and a word that something has changed.

let stream, watch;
let newest = Number(events.dataset.newest);

function connect() {
  clearTimeout(watch);
  stream?.close();
  stream = new EventSource('/stream?after=' + newest);
  stream.addEventListener('pods', message => {
    // Another kubelet answers: it counts its events anew, and may have another page.
    if (message.data !== document.body.dataset.begun) return location.reload();
    expectMore();
    refresh();
  });
  stream.addEventListener('event', message => {
    expectMore();
    addEvent(JSON.parse(message.data));
  });
  // It connects again by itself, but not after an answer that is no stream.
  stream.addEventListener('error', () => {
    say('Cut off; trying again', false);
    if (stream.readyState === EventSource.CLOSED) watch = setTimeout(connect, 2000);
  });
  expectMore();
}

// The kubelet speaks every ten seconds. Silence is a connection that is gone.
function expectMore() {
  clearTimeout(watch);
  watch = setTimeout(() => {
    say('Cut off; trying again', false);
    connect();
  }, 25000);
}

// Nobody looks at a hidden page, and a browser has few connections.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) return connect();
  clearTimeout(watch);
  stream.close();
});

// ---- What is there now: the server makes it, and only what differs is touched.

let fetching = false, again = false;

async function refresh() {
  again = true;
  if (fetching) return;
  fetching = true;
  try {
    while (again) {
      again = false;
      const answer = await fetch('/?part=live');
      if (!answer.ok) throw new Error(await answer.text());
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').body;
      patchChildren(live, fresh);
      setClock();
      say('Live', true);
    }
  } catch {
    say('Cut off; trying again', false);
  } finally {
    fetching = false;
  }
}

// patch makes old look like fresh. What is the same stays the same node, so that focus,
// a selection and the place on the page stay too.
function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  patchChildren(old, fresh);
}

// A child is known again by its id: what must stay has one, and what comes before it and
// is not in fresh goes.
function patchChildren(old, fresh) {
  let at = old.firstChild;
  const dropUntil = end => {
    while (at !== end) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  };
  for (const next of [...fresh.childNodes]) {
    let known = at;
    while (next.id && known && known.id !== next.id) known = known.nextSibling;
    if (known) dropUntil(known);
    if (at && at.nodeName === next.nodeName && at.id === next.id) {
      const following = at.nextSibling;
      patch(at, next);
      at = following;
    } else {
      old.insertBefore(next, at);
    }
  }
  dropUntil(null);
}

// ---- The events, newest first. All of their words are text, never markup.

function addEvent(event) {
  if (event.seq <= newest) return;
  newest = event.seq;
  const item = eventTemplate.content.firstElementChild.cloneNode(true);
  const isUpdate = event.reason === 'SET' || event.reason === 'UPDATE';
  item.classList.toggle('op', isUpdate);
  const time = item.querySelector('time');
  time.dateTime = event.time;
  time.textContent = age(now() - Date.parse(event.time));
  const words = { '.reason': event.reason, '.of-pod': event.pod, '.of-container': event.container, '.message': event.message };
  for (const [place, word] of Object.entries(words)) item.querySelector(place).textContent = word ?? '';
  eventList.prepend(item);
  while (eventList.children.length > Number(events.dataset.most)) eventList.lastElementChild.remove();
  byId('no-events').hidden = true;
  glow(byId(isUpdate ? 'flow-loop' : 'flow-docker'));
  glow(byId('pod-' + event.pod));
}

// glow shows for a moment where something happens.
function glow(element) {
  if (!element || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const colour = getComputedStyle(document.body).getPropertyValue('--accent');
  element.animate([{ boxShadow: `0 0 0 2px ${colour}` }, { boxShadow: '0 0 0 2px transparent' }], { duration: 1500, easing: 'ease-out' });
}

// ---- Ages count on by the server's clock, in the words of the server.

let ahead = 0; // of this browser's clock, in milliseconds
const now = () => Date.now() + ahead;

function setClock() {
  ahead = Date.parse(byId('flow').dataset.now) - Date.now();
}

function age(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return seconds + ' s';
  if (seconds < 3600) return Math.floor(seconds / 60) + ' min';
  if (seconds < 48 * 3600) return Math.floor(seconds / 3600) + ' h';
  return Math.floor(seconds / 86400) + ' days';
}

function countOn() {
  for (const time of document.querySelectorAll('time[data-age], time[data-until]')) {
    const passed = now() - Date.parse(time.dateTime);
    const words = age('until' in time.dataset ? -passed : passed);
    if (time.textContent !== words) time.textContent = words;
  }
}

// ---- A container's log, at the foot of the page. Its link works without this as well.

const log = byId('log'), logText = byId('log-text'), logNote = byId('log-note');
const logMost = 200000; // characters
let following, openedFrom;

live.addEventListener('click', click => {
  const link = click.target.closest('a.log-link');
  if (!link || click.button !== 0 || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
  click.preventDefault();
  openLog(link);
});

async function openLog(link) {
  following?.abort();
  const mine = following = new AbortController();
  openedFrom = link.id;
  byId('log-title').textContent = link.getAttribute('aria-label');
  logText.textContent = '';
  logNote.textContent = 'asking for it';
  log.hidden = false;
  document.body.classList.add('with-log');
  log.focus({ preventScroll: true });
  link.scrollIntoView({ block: 'nearest' });
  try {
    const answer = await fetch(link.href + '&follow=1', { signal: mine.signal });
    if (!answer.ok) {
      logText.textContent = await answer.text();
      logNote.textContent = answer.status === 401 ? 'this browser may not read it yet' : 'it cannot be read';
      return;
    }
    logNote.textContent = 'its last lines, and what comes';
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await pieces.read();
      if (done) break;
      appendLog(value);
    }
    logNote.textContent = 'it has ended';
  } catch {
    if (!mine.signal.aborted) logNote.textContent = 'cut off; open it again';
  }
}

function appendLog(text) {
  const atEnd = logText.scrollHeight - logText.scrollTop - logText.clientHeight < 40;
  let all = logText.textContent + text;
  if (all.length > logMost) all = all.slice(all.indexOf('\n', all.length - logMost) + 1);
  logText.textContent = all;
  if (atEnd) logText.scrollTop = logText.scrollHeight;
}

function closeLog() {
  following?.abort();
  log.hidden = true;
  document.body.classList.remove('with-log');
  byId(openedFrom)?.focus();
}

byId('log-close').addEventListener('click', closeLog);
document.addEventListener('keydown', key => {
  if (key.key === 'Escape' && !log.hidden) closeLog();
});

setClock();
setInterval(countOn, 1000);
connect();
