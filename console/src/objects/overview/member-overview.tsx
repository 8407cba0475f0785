import { Text } from '@mantine/core';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';

export function MemberOverview({ account }: { readonly account: string | undefined }) {
  return (
    <>
      <PageHead
        title="Overview"
        about={account === undefined ? 'Object storage.' : `You are a member of the account ${account}.`}
      />
      <Section title="Your objects" tools={<PageLink to="/buckets">Buckets</PageLink>}>
        <Text size="sm">Make buckets, fill them and share what is in them, as far as their policies let you.</Text>
      </Section>
      <Section title="From programs" tools={<PageLink to="/profile">Your S3 keys</PageLink>}>
        <Text size="sm">Programs reach the same buckets over S3 with your access key and secret key.</Text>
      </Section>
    </>
  );
}
