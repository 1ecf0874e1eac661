import { createUsageHandlers, serveCommands } from './command-server.ts';

// A process of Node.js that does nothing.
serveCommands(createUsageHandlers());
