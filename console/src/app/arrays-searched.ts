import { isAway } from '../api/last-known.ts';

/** A browser has few connections to a service: the others are searched from their own pages. */
export const ARRAYS_SEARCHED_MAX = 8;

/** An array whose contents the person may see. */
export interface SearchedArray {
  readonly id: number;
  readonly name: string;
  readonly kind: 'array' | 'objects';
}

export interface Inside {
  readonly arrays: readonly SearchedArray[];
  /** Arrays that serve, and are not searched. */
  readonly left: number;
  /** It is not known yet which arrays to ask. */
  readonly isSearching: boolean;
  /** An array did not say who the person is inside it: what is in it may be missing. */
  readonly hasFailed: boolean;
}

interface ListedArray {
  readonly id: number;
  readonly name: string;
  readonly product: string;
  readonly status: string;
}

/** A reading of who the person is inside an array. */
interface Identity {
  readonly data?: { readonly data: { readonly role: string | null } } | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
}

/** The first that serve: each of them is asked. */
export function arraysAsked<A extends ListedArray>(list: readonly A[]): { asked: readonly A[]; left: number } {
  const serving = list.filter(({ status }) => status === 'created');
  const asked = serving.slice(0, ARRAYS_SEARCHED_MAX);
  return { asked, left: serving.length - asked.length };
}

/** Those where the person has a user; the others would refuse. */
export function arraysKnown(
  asked: readonly ListedArray[],
  identities: readonly Identity[],
): Pick<Inside, 'arrays' | 'isSearching' | 'hasFailed'> {
  const known = asked.filter((_, index) => identities[index]?.data?.data.role);
  return {
    arrays: known.map(({ id, name, product }) => ({
      id,
      name,
      kind: product === 'object_storage' ? 'objects' : 'array',
    })),
    isSearching: identities.some(({ isPending }) => isPending),
    hasFailed: identities.some(({ error }) => isAway(error)),
  };
}
