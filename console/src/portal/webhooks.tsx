import { portal } from '../api/portal.ts';
import { GroupPage } from '../contract/group-page.tsx';
import { webhookWording } from '../contract/webhooks.tsx';

export default function Webhooks() {
  return (
    <GroupPage
      api={portal.webhooks.list.api}
      group="webhooks"
      title="Webhooks"
      about="Events are sent to these addresses, signed, and tried again until they arrive."
      wording={webhookWording}
      next="Name an https address that takes events; “Test” at it sends one."
    />
  );
}
