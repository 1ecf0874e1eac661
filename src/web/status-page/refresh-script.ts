/**
 * What runs in the browser: fetches the page that is open every few seconds and changes what differs, node by node,
 * so that nothing flickers and focus, selection and scroll stay. A filter is applied as it is typed. It rests in a
 * hidden tab, and while it is paused; when the exporter does not answer, it says that the page is old.
 */
export const REFRESH_SCRIPT = `(() => {
'use strict';
const EVERY_MS = 5000;
const TYPING_MS = 250;
const lost = document.getElementById('lost');
const pause = document.getElementById('pause');
const form = document.querySelector('form');
let timer;
let typing;
let isPaused = false;

const morph = (old, fresh) => {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName) return old.replaceWith(document.importNode(fresh, true));
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const [olds, freshes] = [[...old.childNodes], [...fresh.childNodes]];
  freshes.forEach((node, at) => {
    if (at < olds.length) morph(olds[at], node);
    else old.append(document.importNode(node, true));
  });
  for (const node of olds.slice(freshes.length)) node.remove();
};

const show = (page) => {
  const focused = document.activeElement?.id;
  for (const old of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(old.id);
    if (fresh !== null) morph(old, fresh);
  }
  document.title = page.title;
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
};

const load = async (address) => {
  const answer = await fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(2 * EVERY_MS) });
  if (!answer.ok) throw new Error('HTTP ' + answer.status);
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
};

const refresh = async () => {
  clearTimeout(timer);
  const address = location.href;
  try {
    const page = await load(address);
    // Typing has gone on meanwhile: another refresh is under way.
    if (address !== location.href) return;
    show(page);
    lost.hidden = true;
  } catch {
    if (address !== location.href) return;
    lost.hidden = false;
  }
  wait();
};

const wait = () => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, EVERY_MS);
};

const apply = () => {
  const wanted = new URLSearchParams(new FormData(form));
  for (const [key, value] of [...wanted]) if (value === '') wanted.delete(key);
  history.replaceState(null, '', wanted.size === 0 ? '/' : '/?' + wanted);
  refresh();
};

form?.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(apply, TYPING_MS);
});
document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) refresh();
});
pause.hidden = false;
pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  if (isPaused) clearTimeout(timer);
  else refresh();
});
wait();
})();`;
