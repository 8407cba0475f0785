import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts } from '../../parts/small.tsx';

/** Where accounts may have notifications of their containers posted to. */
export function NotificationHosts() {
  const reading = useRead(objects.settings.getNotificationHosts, {});
  return (
    <Reading of={reading}>
      {({ notification_hosts: hosts }) => (
        <Section
          title="Notifications of containers"
          tools={
            <ActionButton
              op={objects.settings.setNotificationHosts}
              label="Change the hosts"
              isSmall
              start={{ notification_hosts: hosts }}
              labels={{ notification_hosts: 'Hosts' }}
            />
          }
        >
          <Facts of={[['Allowed hosts', hosts === '' ? 'none' : hosts.split(',').join(', ')]]} />
        </Section>
      )}
    </Reading>
  );
}
