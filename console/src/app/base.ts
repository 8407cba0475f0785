import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { createContext, useCallback, useContext } from 'react';

/** Where the pages of the present service are mounted: `''`, or `/arrays/7/block` in the portal's console. */
export const BaseContext = createContext('');

export function useBase(): string {
  return useContext(BaseContext);
}

/** Goes to a path below the present service's base. */
export function useGo(): (path: string) => void {
  const base = useBase();
  const navigate = useNavigate();
  return useCallback((path: string) => void navigate({ to: `${base}${path}` }), [base, navigate]);
}

/** A part of the address, such as `volumeId`. */
export function useParam(name: string): string {
  const params: Record<string, unknown> = useParams({ strict: false });
  return textOf(params[name]);
}

/** A text that is kept in the address, so that a filtered list can be reloaded, shared and gone back to. */
export function useAddressText(name: string): readonly [string, (value: string) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const value = search[name];
  const set = useCallback(
    (next: string) => {
      const change = (before: Record<string, unknown>) => ({ ...before, [name]: next === '' ? undefined : next });
      void navigate({ to: '.', search: change, replace: true });
    },
    [name, navigate],
  );
  return [textOf(value), set];
}

/** The router reads numbers and truth values out of an address; here they are the text that stood there. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
