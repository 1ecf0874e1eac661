import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { Program } from '../../../support/program.ts';
import { findClosedPort } from '../../../support/servers.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';
import { waitUntil } from '../../../support/wait-until.ts';

/** The programs of this folder's tests. */
export const KUBERNETES_PROGRAMS = ['etcd', 'kube-apiserver', 'kubectl', 'helm'];

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const HOST = '127.0.0.1';
const TOKEN = 'test-token';

/**
 * A kube-apiserver and its etcd on loopback. They validate, default, admit and store objects; without
 * controllers, no object creates another.
 */
export class KubernetesApiServer implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #programs: Program[] = [];

  static async start(): Promise<KubernetesApiServer> {
    const server = new KubernetesApiServer();
    try {
      await server.#startPrograms();
      await waitUntil(
        () => server.try('kubectl', ['get', '--raw', '/readyz']),
        ({ status }) => status === 0,
      );
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  async #startPrograms(): Promise<void> {
    // Neither program tells the port that it gets for port 0.
    const [clientPort, peerPort, apiPort] = await Promise.all([
      findClosedPort(),
      findClosedPort(),
      findClosedPort(),
    ]);
    const client = `http://${HOST}:${clientPort}`;
    const peer = `http://${HOST}:${peerPort}`;
    writeCredentials(this.#folder, `https://${HOST}:${apiPort}`);
    this.#programs.push(
      new Program('etcd', [
        `--data-dir=${this.#folder.at('etcd')}`,
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`,
      ]),
      new Program('kube-apiserver', [
        `--etcd-servers=${client}`,
        `--bind-address=${HOST}`,
        `--secure-port=${apiPort}`,
        '--endpoint-reconciler-type=none',
        `--cert-dir=${this.#folder.at('certificates')}`,
        '--service-account-issuer=https://kubernetes.example.com',
        `--service-account-key-file=${this.#folder.at('service-account.pem')}`,
        `--service-account-signing-key-file=${this.#folder.at('service-account.pem')}`,
        `--token-auth-file=${this.#folder.at('tokens.csv')}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        '--shutdown-delay-duration=0s',
      ]),
    );
  }

  /** Runs kubectl or Helm as an administrator. */
  async try(program: 'kubectl' | 'helm', args: readonly string[], input = ''): Promise<CommandResult> {
    const child = spawn(program, args, {
      env: {
        PATH: process.env['PATH'],
        HOME: this.#folder.path,
        KUBECONFIG: this.#folder.at('kubeconfig'),
      },
    });
    const exit = once(child, 'close');
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await exit;
    return { status: child.exitCode, stdout, stderr };
  }

  /** Runs kubectl or Helm, which must succeed without a warning, and returns its output. */
  async run(program: 'kubectl' | 'helm', args: readonly string[], input = ''): Promise<string> {
    const { status, stdout, stderr } = await this.try(program, args, input);
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /warning/i);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The API server first: without etcd, it would not end.
    for (const program of this.#programs.toReversed()) await program[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

function writeCredentials(folder: TemporaryFolder, server: string): void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(folder.at('service-account.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(folder.at('tokens.csv'), `${TOKEN},test,test,"system:masters"\n`);
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    // The server creates its certificate itself.
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: TOKEN } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  writeFileSync(folder.at('kubeconfig'), JSON.stringify(kubeconfig));
}
