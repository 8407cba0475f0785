import type { ComponentType, ReactNode } from 'react';

/** A page of a service, mounted by the router below whatever address the service has in this console. */
export interface Page {
  /** Below the service's base: `volumes`, `volumes/$volumeId`; `''` is its first page. */
  readonly path: string;
  /** Its name in the menu; pages without one are reached from others. */
  readonly label?: string;
  readonly icon?: ComponentType<{ readonly size?: number }>;
  /** The heading in the menu that it stands below. */
  readonly section?: string;
  /** Roles that see it in the menu; absent: all. */
  readonly roles?: readonly string[];
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export interface MenuExtra {
  readonly title: string;
  readonly back?: { readonly label: string; readonly to: string };
  readonly note?: ReactNode;
}
