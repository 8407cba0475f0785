import type { Door } from '@granary/kernel';
import type { ArrayId } from '../ids.ts';

export interface PassageAddress {
  readonly arrayId: ArrayId;
  readonly door: Door;
  /** What the array is asked for, with the query, as it came: nothing in it is decoded or normalised. */
  readonly target: string;
}

const ADDRESS = /^\/via\/([1-9]\d{0,14})(\/(?:api|s3)(?:\/[^?#]*)?(?:\?[^#]*)?)$/;
/** Also encoded: whatever stands before an array must not read another path than the portal did. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/** `/via/7/api/volumes?limit=5`; undefined when it is nothing of the kind. */
export function readPassage(url: string): PassageAddress | undefined {
  const [, id, target] = ADDRESS.exec(url) ?? [];
  if (id === undefined || target === undefined) return undefined;
  const door = /^\/api(?=[/?]|$)/.test(target) ? 'api' : 's3';
  const path = target.split('?', 1)[0] ?? '';
  // The keys of objects may have such parts, and S3 takes them literally.
  if (door === 'api' && (DOTS.test(path) || /%2f/i.test(path.split('/')[2] ?? ''))) return undefined;
  return { arrayId: Number(id), door, target };
}
