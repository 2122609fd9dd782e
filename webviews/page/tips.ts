// Titles for the keyboard: browsers show them for a mouse only. What gets the focus by a key shows its own after a while, and a row of
// a table that of its verdict, until the focus goes on, the page is scrolled or Escape is pressed.
import './tips.css';

/** Milliseconds, as a browser waits for a mouse. */
const DELAY = 500;
/** Pixels between an element and its tip. */
const GAP = 4;

const tip = document.createElement('div');
tip.className = 'tip';
tip.hidden = true;
// Screen readers say titles themselves.
tip.setAttribute('aria-hidden', 'true');
document.body.append(tip);

/** What gets its tip when the time is over. */
let next: HTMLElement | undefined;
let timer = 0;

function hide(): void {
  clearTimeout(timer);
  next = undefined;
  tip.hidden = true;
}

function wait(element: HTMLElement): void {
  clearTimeout(timer);
  next = element;
  timer = window.setTimeout(() => show(element), DELAY);
}

/** Below the element, above it where there is no room. */
function show(element: HTMLElement): void {
  next = undefined;
  const inside = [...element.querySelectorAll<HTMLElement>('td .chip[title]')].map(({ title }) => title);
  const text = [element.title, ...inside].filter((title) => title !== '').join('\n');
  if (text === '' || !element.isConnected) return;
  tip.textContent = text;
  tip.hidden = false;
  const { left, top, bottom } = element.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tip;
  const below = bottom + GAP;
  const fits = below + height <= window.innerHeight || top < height + GAP;
  tip.style.left = `${Math.max(0, Math.min(left, window.innerWidth - width))}px`;
  tip.style.top = `${fits ? Math.min(below, window.innerHeight - height) : top - GAP - height}px`;
}

document.addEventListener('focusin', ({ target }) => {
  hide();
  if (target instanceof HTMLElement && target.matches(':focus-visible')) wait(target);
});
document.addEventListener('focusout', hide);
// The page scrolls to what gets the focus, and says so behind it: then the time begins anew.
document.addEventListener('scroll', () => (next ? wait(next) : hide()), { capture: true, passive: true });
document.addEventListener('pointerdown', hide, { capture: true });
document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { capture: true });
