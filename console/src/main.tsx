import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/console.css';
import { createRoot } from 'react-dom/client';
import { service } from './api/service.ts';
import { App } from './app/app.tsx';

// A dialog keeps the page behind it from scrolling by a style element; what makes that one looks here for the nonce.
Object.assign(globalThis, { __webpack_nonce__: service.nonce });

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
