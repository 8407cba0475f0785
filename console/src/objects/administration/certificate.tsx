import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { ActionButton } from '../../contract/action.tsx';
import { Section } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Facts, Time } from '../../parts/small.tsx';

/** HTTPS at the data port. */
export function Certificate({ isOn }: { readonly isOn: boolean }) {
  const reading = useRead(objects.settings.getSslCertificate, {});
  const about = isOn
    ? 'Clients that use https:// are refused from now on; keys and data go over the network in clear.'
    : 'Clients that use http:// are refused from now on.';
  return (
    <Section
      title="HTTPS of the data port"
      tools={
        <>
          <ActionButton
            op={objects.settings.setSslTermination}
            label={isOn ? 'Switch HTTPS off' : 'Switch HTTPS on'}
            isSmall
            input={{ ssltermination: !isOn }}
            about={about}
          />
          <ActionButton
            op={objects.settings.setSslCertificate}
            label="Install a certificate"
            isSmall
            fields={['ssl_pem']}
            labels={{ ssl_pem: 'Private key and certificates (PEM)' }}
          />
        </>
      }
    >
      <Reading of={reading}>
        {(certificate) => (
          <Facts
            of={[
              ['HTTPS', isOn ? 'on' : 'off: plain HTTP'],
              ['Certificate names', certificate.current_ssl_domain],
              ['Expires', <Time key="ends" at={certificate.current_ssl_enddate} />],
              ['Days left', certificate.current_ssl_daysremaining],
              ['Names of the array’s own certificate', certificate.default_ssl_domain],
              ['The array’s own certificate expires', <Time key="own" at={certificate.default_ssl_enddate} />],
            ]}
          />
        )}
      </Reading>
    </Section>
  );
}
