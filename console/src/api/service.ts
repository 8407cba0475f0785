export type ServiceKind = 'portal' | 'array' | 'objects';

function meta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="granary-${name}"]`)?.content ?? '';
}

/** Which service this page came from, and what it said of itself. */
export const service = {
  kind: meta('service') as ServiceKind,
  version: meta('version'),
  /** Style elements must carry it, or the browser ignores them. */
  nonce: meta('nonce'),
  /** The script that follows what changes, for all tabs. */
  feed: meta('feed'),
} as const;
