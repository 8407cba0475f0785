import { createContext, useContext, type ReactNode } from 'react';
import type { Place } from './send.ts';
import { service } from './service.ts';

/** Where each API is reached from a part of the page. */
export type Places = Readonly<Partial<Record<string, Place>>>;

const Context = createContext<Places>({ [service.kind]: { base: '' } });

/** Below it, operations of an array's API go to this array. */
export function ArrayPlace(props: {
  readonly api: 'array' | 'objects';
  readonly id: string;
  readonly children: ReactNode;
}) {
  const outer = useContext(Context);
  const place = { base: `/via/${encodeURIComponent(props.id)}` };
  return <Context value={{ ...outer, [props.api]: place }}>{props.children}</Context>;
}

export function usePlaces(): Places {
  return useContext(Context);
}

/** Throws where a page calls an API that this console has no way to. */
export function usePlace(api: string): Place {
  const place = useContext(Context)[api];
  if (!place) throw new Error(`No ${api} is reached from here.`);
  return place;
}
