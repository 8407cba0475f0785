import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { PageHead } from '../../parts/messages.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts } from '../../parts/small.tsx';
import { Certificate } from './certificate.tsx';
import { DataSettings } from './data-settings.tsx';
import { NotificationHosts } from './notification-hosts.tsx';
import { PeopleSettings } from './people-settings.tsx';

export default function Settings() {
  const reading = useRead(objects.settings.get, {});
  return (
    <>
      <PageHead title="Settings" about="Of this array. What is changed holds at once." />
      <Reading of={reading}>
        {(settings) => (
          <>
            <DataSettings settings={settings} />
            <Certificate isOn={settings.ssl_termination === 'on'} />
            <PeopleSettings settings={settings} />
            <NotificationHosts />
          </>
        )}
      </Reading>
      <Browsers />
      <Section
        title="Metrics"
        tools={
          <>
            <ActionButton op={objects.settings.createMetricsToken} label="New token" isSmall showsReply />
            <ActionButton op={objects.settings.deleteMetricsToken} label="Remove the token" isSmall destroys="token" />
          </>
        }
      >
        A program on another machine reads /metrics with this token and can do nothing else with it.
      </Section>
    </>
  );
}

function Browsers() {
  const reading = useRead(objects.settings.getSessions, {});
  return (
    <Reading of={reading}>
      {({ idle_minutes, hours_max }) => (
        <Section
          title="Browsers"
          tools={
            <ActionButton
              op={objects.settings.setSessions}
              label="Change"
              isSmall
              start={{ idle_minutes, hours_max }}
            />
          }
        >
          <Facts
            of={[
              ['Idle timeout', `${idle_minutes} minutes`],
              ['Session lifetime', `${hours_max} hours`],
            ]}
          />
        </Section>
      )}
    </Reading>
  );
}
