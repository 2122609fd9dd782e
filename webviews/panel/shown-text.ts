// All that the page shows: names come out of recordings and binaries, and could turn or hide the text around them.
import { Fragment, options, type ComponentChildren, type VNode } from 'preact';
import { printable } from '../../extension/protocol/printable';

const SHOWN_ATTRIBUTES = ['title', 'aria-label'] as const;

/** From now on, whatever an element is made with is made printable, but for the line breaks of its title. */
export function showPrintable(): void {
  const next = options.vnode?.bind(options);
  options.vnode = (vnode: VNode<Record<string, unknown>>) => {
    const { type, props } = vnode;
    if (typeof type === 'string' || type === Fragment) {
      for (const name of SHOWN_ATTRIBUTES) if (typeof props[name] === 'string') props[name] = printableLines(props[name]);
      props.children = printableChildren(props.children);
    }
    next?.(vnode);
  };
}

function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function printableChildren(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return printable(children);
  return Array.isArray(children) ? children.map((child: ComponentChildren) => printableChildren(child)) : children;
}
