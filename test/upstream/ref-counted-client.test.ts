import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListingResponse } from '../../src/upstream/client.ts';
import { ReplaceableClient } from '../../src/upstream/replaceable-client.ts';
import { TARGET } from '../poller/polling.ts';

/** A client that answers when it is told to. */
class TestClient implements AsyncDisposable {
  readonly waiting: { answer(): void; fail(error: Error): void }[] = [];
  isClosed = false;

  requestListing(): Promise<ListingResponse> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ answer: () => resolve({ status: 200, bytes: 0 }), fail: reject });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
    for (const one of this.waiting) one.fail(new Error('closed'));
    return Promise.resolve();
  }
}

function request(client: ReplaceableClient): Promise<ListingResponse> {
  return client.requestListing(TARGET, () => undefined, new AbortController().signal);
}

test('a client that is replaced ends what it began, however that ends, and is closed then', async () => {
  const [first, second] = [new TestClient(), new TestClient()];
  const client = new ReplaceableClient(first);
  const [good, bad] = [request(client), request(client)];
  client.replace(second);
  const later = request(client);
  assert.deepEqual([first.waiting.length, second.waiting.length], [2, 1]);
  first.waiting[0]?.answer();
  await good;
  await nextTurn();
  assert.equal(first.isClosed, false);
  first.waiting[1]?.fail(new Error('reset'));
  await assert.rejects(bad, { message: 'reset' });
  await nextTurn();
  assert.deepEqual([first.isClosed, second.isClosed], [true, false]);
  second.waiting[0]?.answer();
  assert.deepEqual(await later, { status: 200, bytes: 0 });
  await client[Symbol.asyncDispose]();
  assert.equal(second.isClosed, true);
});

test('a client without a request under way is closed as soon as it is replaced', async () => {
  const first = new TestClient();
  const client = new ReplaceableClient(first);
  client.replace(new TestClient());
  await nextTurn();
  assert.equal(first.isClosed, true);
  await client[Symbol.asyncDispose]();
});

test('disposing waits for a client that still has a request under way', async () => {
  const first = new TestClient();
  const client = new ReplaceableClient(first);
  const underWay = request(client);
  client.replace(new TestClient());
  let isDisposed = false;
  const disposed = client[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await nextTurn();
  assert.equal(isDisposed, false);
  first.waiting[0]?.answer();
  await Promise.all([underWay, disposed]);
  assert.equal(first.isClosed, true);
});
