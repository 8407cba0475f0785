import { objectsApi } from '@granary/contract/objects';
import { GroupPage } from '../../contract/group-page.tsx';

export default function Webhooks() {
  return (
    <GroupPage
      api={objectsApi}
      group="webhooks"
      title="Webhooks"
      about="Addresses that the events of the array are posted to. The secret that signs them is shown once."
      empty="There are no webhooks yet. Make one and test it."
    />
  );
}
