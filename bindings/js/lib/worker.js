// worker.js - a worker that holds a model; host.js speaks to it.
import { serve } from './host.js';

await serve();
