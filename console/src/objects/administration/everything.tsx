import { objectsApi } from '@granary/contract/objects';
import { EveryOperation } from '../../contract/derived.tsx';

export default function Everything() {
  return <EveryOperation api={objectsApi} />;
}
