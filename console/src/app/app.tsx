import { Center, Loader, MantineProvider, Stack, Text } from '@mantine/core';
import { notifications, Notifications } from '@mantine/notifications';
import { ApiError } from '@granary/client/errors';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { whenPersonLeaves } from '../api/leaving.ts';
import { service } from '../api/service.ts';
import { router } from './router.tsx';
import { SessionProvider, useSession } from './session.tsx';
import { SignIn } from './sign-in.tsx';
import { theme } from './theme.ts';

/** The change feed says when something changed; what is older than this is read again when it is shown. */
const FRESH_MS = 15_000;
const RETRIES_MAX = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // A refusal stays a refusal. A lost connection may come back.
      retry: (count, error) => count < RETRIES_MAX && !(error instanceof ApiError),
    },
  },
});

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => service.nonce}>
      <Notifications position="bottom-center" autoClose={NOTICE_MS} />
      <QueryClientProvider client={client}>
        <SessionProvider
          waiting={(isUnanswered) => <Waiting isUnanswered={isUnanswered} />}
          signIn={(enter, hasEnded) => <SignIn enter={enter} hasEnded={hasEnded} />}
        >
          <Pages />
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

// Notices name what somebody did, and offer to take it back.
/** Long enough to read; in the middle, as what can be pressed is at the right. */
const NOTICE_MS = 5_000;

whenPersonLeaves(() => notifications.clean());

/** Another session, another person perhaps: nothing of what the one before had open stays. */
function Pages() {
  return <RouterProvider key={useSession().id} router={router} />;
}

function Waiting({ isUnanswered }: { readonly isUnanswered: boolean }) {
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack align="center">
        <Loader role="img" aria-label="Loading" />
        <Text role="status">
          {isUnanswered && 'The service does not answer. This page goes on by itself when it does.'}
        </Text>
      </Stack>
    </Center>
  );
}
