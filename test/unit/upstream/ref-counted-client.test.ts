import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ListingResponse } from '../../../src/upstream/client.ts';
import { RefCountedClient } from '../../../src/upstream/ref-counted-client.ts';
import { TARGET } from '../../support/manual-client.ts';

/** A client whose responses the test triggers. */
class TestClient implements AsyncDisposable {
  readonly pending: { respond(): void; fail(error: Error): void }[] = [];
  isClosed = false;

  requestListing(): Promise<ListingResponse> {
    return new Promise((resolve, reject) => {
      this.pending.push({ respond: () => resolve({ status: 200, bytes: 0 }), fail: reject });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
    for (const entry of this.pending) entry.fail(new Error('closed'));
    return Promise.resolve();
  }
}

function request(client: RefCountedClient): Promise<ListingResponse> {
  return client.requestListing(TARGET, () => undefined, new AbortController().signal);
}

test('a replaced client completes its requests, successful or not, and is then closed', async () => {
  const [first, second] = [new TestClient(), new TestClient()];
  const client = new RefCountedClient(first);
  const [good, bad] = [request(client), request(client)];
  client.replace(second);
  const later = request(client);
  assert.deepEqual([first.pending.length, second.pending.length], [2, 1]);
  first.pending[0]?.respond();
  await good;
  await yieldToEventLoop();
  assert.equal(first.isClosed, false);
  first.pending[1]?.fail(new Error('reset'));
  await assert.rejects(bad, { message: 'reset' });
  await yieldToEventLoop();
  assert.deepEqual([first.isClosed, second.isClosed], [true, false]);
  second.pending[0]?.respond();
  assert.deepEqual(await later, { status: 200, bytes: 0 });
  await client[Symbol.asyncDispose]();
  assert.equal(second.isClosed, true);
});

test('a replaced client without requests in progress is closed immediately', async () => {
  const first = new TestClient();
  const client = new RefCountedClient(first);
  client.replace(new TestClient());
  await yieldToEventLoop();
  assert.equal(first.isClosed, true);
  await client[Symbol.asyncDispose]();
});

test('disposal waits for a replaced client with a request in progress', async () => {
  const first = new TestClient();
  const client = new RefCountedClient(first);
  const inProgress = request(client);
  client.replace(new TestClient());
  let isDisposed = false;
  const disposed = client[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await yieldToEventLoop();
  assert.equal(isDisposed, false);
  first.pending[0]?.respond();
  await Promise.all([inProgress, disposed]);
  assert.equal(first.isClosed, true);
});
