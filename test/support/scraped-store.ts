import { Store, type CodeState } from '../../src/poller/store.ts';

/** A store whose snapshots a scrape gets as soon as they are published. */
export class ScrapedStore extends Store {
  override publish(state: CodeState): void {
    super.publish(state);
    this.markServed([state]);
  }
}
