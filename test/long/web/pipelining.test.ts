import { definePipeliningTests } from '../../integration/web/pipelining.ts';

definePipeliningTests('https');
