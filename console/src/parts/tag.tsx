import type { ReactNode } from 'react';

export type Tone = 'blue' | 'gray' | 'red' | 'teal' | 'yellow';

/** A word with a colour. A plain element: lists have one in each row. */
export function Tag({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className="tag" data-tone={tone}>
      {children}
    </span>
  );
}
