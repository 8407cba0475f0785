import { Card, Title } from '@mantine/core';
import { portal } from '../api/portal.ts';
import { Sessions } from '../parts/sessions.tsx';
import { PageHead } from '../parts/messages.tsx';

export default function Profile() {
  return (
    <>
      <PageHead title="Profile" />
      <Card withBorder>
        <Title order={2} size="h4" mb="sm">
          Where you are signed in
        </Title>
        <Sessions list={portal.sessions.list} end={portal.sessions.delete} />
      </Card>
    </>
  );
}
