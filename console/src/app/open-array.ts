import { useLocation } from '@tanstack/react-router';
import { service } from '../api/service.ts';

/** An array whose pages are open behind the portal. */
export interface OpenArray {
  readonly id: number;
  readonly branch: 'block' | 'objects';
}

const ADDRESS = /^\/arrays\/(\d+)\/(block|objects)(?:\/|$)/;

export function useOpenArray(): OpenArray | undefined {
  const { pathname } = useLocation();
  const [, id, branch] = ADDRESS.exec(pathname) ?? [];
  if (id === undefined || service.kind !== 'portal') return undefined;
  return { id: Number(id), branch: branch === 'block' ? 'block' : 'objects' };
}
