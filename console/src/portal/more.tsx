import { portal } from '../api/portal.ts';
import { EveryOperation } from '../contract/derived.tsx';

export default function More() {
  return <EveryOperation api={portal.arrays.list.api} />;
}
