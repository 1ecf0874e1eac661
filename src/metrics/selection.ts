/** What a scrape wants: everything, the process itself alone, all service codes alone, or some of them. */
export type Selection = 'everything' | 'exporter' | 'service_codes' | ReadonlySet<string>;
