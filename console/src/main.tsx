import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/console.css';
import { createRoot } from 'react-dom/client';
import { service } from './api/service.ts';
import { App } from './app/app.tsx';

// Elements of style that libraries make look for the nonce here; without it the browser ignores them.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = service.nonce;

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
