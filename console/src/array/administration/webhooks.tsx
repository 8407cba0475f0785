import { arrayApi } from '@granary/contract/array';
import { GroupPage } from '../../contract/group-page.tsx';
import { webhookWording } from '../../contract/webhooks.tsx';

export default function Webhooks() {
  return (
    <GroupPage
      api={arrayApi}
      group="webhooks"
      title="Webhooks"
      about="Addresses that the events of the array are posted to. The secret that signs them is shown once."
      wording={webhookWording}
      next="Name an https address that takes events; “Send a test” at it sends one."
    />
  );
}
