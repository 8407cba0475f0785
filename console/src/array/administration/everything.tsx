import { arrayApi } from '@granary/contract/array';
import { EveryOperation } from '../../contract/derived.tsx';

export default function Everything() {
  return <EveryOperation api={arrayApi} />;
}
