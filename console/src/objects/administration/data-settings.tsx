import { objects } from '../../api/objects.ts';
import { ActionButton } from '../../contract/action.tsx';
import { count, money } from '../../parts/format.ts';
import { Section } from '../../parts/page-link.tsx';
import { Facts, State } from '../../parts/small.tsx';
import type { Settings } from '../records.ts';
import { isYes } from './setting.ts';

const api = objects.settings;
const text = (name: string, value: string | null) => (value === null ? {} : { [name]: value });

/** How the array serves its data. */
export function DataSettings({ settings }: { readonly settings: Settings }) {
  return (
    <>
      <Names settings={settings} />
      <Dialects settings={settings} />
      <Encryption settings={settings} />
      <Limits settings={settings} />
      <Prices settings={settings} />
      <Network settings={settings} />
    </>
  );
}

interface Props {
  readonly settings: Settings;
}

function Names({ settings: one }: Props) {
  return (
    <Section
      title="Names and addresses"
      tools={
        <>
          <ActionButton
            op={api.setApiHostname}
            label="Host name"
            isSmall
            start={text('api_hostname', one.api_hostname)}
          />
          <ActionButton
            op={api.setPublicApiHostname}
            label="Public host name"
            isSmall
            start={text('public_api_hostname', one.public_api_hostname)}
          />
          <ActionButton op={api.setApiIp} label="Address in links" isSmall start={text('api_ip', one.api_ip)} />
        </>
      }
    >
      <Facts
        of={[
          ['Array', `${one.display_name} (${one.name}), version ${one.version}`],
          ['Management', one.url],
          ['Address', one.floating_fe_ip],
          ['IPv6 address', one.floating_fe_ipv6],
          ['Public address', one.publicip],
          ['Host name in links', one.api_hostname],
          ['Host name at the public address', one.public_api_hostname],
          ['Address in links', one.api_ip],
        ]}
      />
    </Section>
  );
}

function Dialects({ settings: one }: Props) {
  return (
    <Section
      title="S3 and Swift"
      tools={
        <>
          <ActionButton op={api.setRegion} label="S3 region" isSmall start={{ region: one.region }} />
          <ActionButton
            op={api.setVirtualHostedStyle}
            label="Buckets in host names"
            isSmall
            start={{ vhs_state: !isYes(one.vhs_state) }}
          />
          <ActionButton
            op={api.setTenantNameInUrl}
            label="Account names in addresses"
            isSmall
            start={{ allow_tenant_name_in_url: !isYes(one.allow_tenant_name_in_url) }}
          />
          <ActionButton
            op={api.setTokenExpiry}
            label="Lifetime of tokens"
            isSmall
            start={{ token_expiry: one.token_expiry }}
          />
        </>
      }
    >
      <Facts
        of={[
          ['S3 region', one.region],
          ['Bucket names in host names (virtual-hosted style)', isYes(one.vhs_state) ? 'accepted' : 'not accepted'],
          ['Account names in addresses', isYes(one.allow_tenant_name_in_url) ? 'accepted' : 'not accepted; ids are'],
          ['Lifetime of Swift tokens', `${count(one.token_expiry)} minutes`],
        ]}
      />
    </Section>
  );
}

const ENCRYPTION: Readonly<Record<Settings['encryption'], string>> = {
  none: 'no password is set',
  off: 'off: what is written is not encrypted',
  on: 'on: what is written is encrypted',
  locked: 'locked: give the password again, so that encrypted objects can be read',
};

function Encryption({ settings: { encryption } }: Props) {
  const isKnown = encryption === 'on' || encryption === 'off';
  return (
    <Section
      title="Encryption"
      tools={
        <>
          {encryption === 'locked' && <ActionButton op={api.restoreEncryption} label="Give the password" isSmall />}
          {encryption === 'none' && (
            <ActionButton
              op={api.setEncryptionPassword}
              label="Set the password"
              isSmall
              about="It is kept nowhere: after each restart it has to be given again. Without it encrypted objects are lost."
            />
          )}
          {isKnown && <ActionButton op={api.setEncryptionPassword} label="Change the password" isSmall />}
          {encryption === 'off' && <ActionButton op={api.activateEncryption} label="Encrypt from now on" isSmall />}
          {encryption === 'on' && (
            <ActionButton
              op={api.disableEncryption}
              label="Stop encrypting"
              isSmall
              about="What is encrypted stays so, and needs the password still."
            />
          )}
        </>
      }
    >
      <Facts
        of={[
          [
            'Encryption of all objects',
            encryption === 'locked' ? <State key="locked" of={ENCRYPTION.locked} /> : ENCRYPTION[encryption],
          ],
        ]}
      />
    </Section>
  );
}

function Limits({ settings: one }: Props) {
  const isLimited = isYes(one.zswift_ratelimit_enabled);
  return (
    <Section
      title="Limits and alerts"
      tools={
        <>
          <ActionButton
            op={api.setRateLimit}
            label="Limit of changes"
            isSmall
            start={{ enabled: isLimited, ...(one.zswift_ratelimit > 0 && { global_rate_limit: one.zswift_ratelimit }) }}
          />
          <ActionButton
            op={api.setApiErrorAlerts}
            label="Alert of failures"
            isSmall
            start={{ enabled: isYes(one.api_errors_enabled), threshold: one.api_errors_threshold }}
          />
          <ActionButton
            op={api.setPolicyExpansion}
            label="Expansion in steps"
            isSmall
            start={{ expansion_percent: one.expansion_percent }}
          />
        </>
      }
    >
      <Facts
        of={[
          [
            'Changes of each account',
            isLimited ? `${count(one.zswift_ratelimit)} a second, where it has no limit of its own` : 'not limited',
          ],
          [
            'An event when requests fail',
            isYes(one.api_errors_enabled) ? `above ${count(one.api_errors_threshold)} in a minute` : 'off',
          ],
          [
            'New drives join a policy',
            one.expansion_percent === 100 ? 'all at once' : `${one.expansion_percent}% at a time`,
          ],
          ['Work on storage policies', one.policy_action ?? 'none'],
        ]}
      />
    </Section>
  );
}

function Prices({ settings: one }: Props) {
  const currency = one.billing_unit.toUpperCase();
  return (
    <Section
      title="Prices"
      tools={
        <>
          <ActionButton
            op={api.setBillingCurrency}
            label="Currency"
            isSmall
            start={{ billing_unit: one.billing_unit }}
            about="Prices keep their numbers; only the name of the currency changes."
          />
          <ActionButton
            op={api.setTransferPrices}
            label="Prices of transfer"
            isSmall
            start={{ upload_rate_per_gb: one.upload_rate_per_gb, download_rate_per_gb: one.download_rate_per_gb }}
            about="They hold for the whole day (UTC) they are set on and those after it. What is stored has its price at its storage policy."
          />
        </>
      }
    >
      <Facts
        of={[
          ['Currency', currency],
          ['Price per GiB uploaded', money(one.upload_rate_per_gb, currency)],
          ['Price per GiB downloaded', money(one.download_rate_per_gb, currency)],
        ]}
      />
    </Section>
  );
}

function Network({ settings: one }: Props) {
  const servers = one.custom_name_servers;
  return (
    <Section
      title="Network"
      tools={
        <>
          <ActionButton
            op={api.setDnsServers}
            label="Name servers"
            isSmall
            start={{ custom_name_servers: servers.join(','), dns_lookup_domain: one.dns_lookup_domain ?? '' }}
          />
          <ActionButton
            op={api.setLoadBalancerMode}
            label="Load balancer"
            isSmall
            start={{ mode: one.load_balancer_mode }}
          />
          <ActionButton op={api.setMtu} label="Packet size" isSmall />
        </>
      }
    >
      <Facts
        of={[
          ['Name servers of a private domain', servers.length === 0 ? 'none' : servers.join(', ')],
          ['The private domain', one.dns_lookup_domain],
          ['Load balancer', one.load_balancer_mode === 'dr' ? 'controllers answer clients themselves (dr)' : 'nat'],
        ]}
      />
    </Section>
  );
}
