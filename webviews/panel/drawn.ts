// What is drawn anew only where it changed: of a table that scrolls, most rows stay.
import { Component, type ComponentChildren } from 'preact';

interface DrawnProps {
  /** All that what is drawn depends on, by identity. */
  by: readonly unknown[];
  children: () => ComponentChildren;
}

export class Drawn extends Component<DrawnProps> {
  override shouldComponentUpdate({ by }: DrawnProps): boolean {
    return by.some((one, at) => one !== this.props.by[at]);
  }

  override render({ children }: DrawnProps): ComponentChildren {
    return children();
  }
}
