// The client library, connected to `sluice mcp` over stdio. It checks every structured answer against the tool's
// outputSchema by itself, once the tools have been listed.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export class Sluice {
  static async connect(...flags) {
    const sluice = new Sluice();
    sluice.client = new Client({ name: 'triage-bot', version: '1.0.0' });
    const command = { command: process.env.SLUICE, args: ['mcp', ...flags] };
    sluice.transport = new StdioClientTransport({ ...command, env: process.env, stderr: 'pipe' });
    await sluice.client.connect(sluice.transport);
    sluice.tools = (await sluice.client.listTools()).tools;
    return sluice;
  }

  // The structured answer; throws where the tool reports an error.
  async call(name, args = {}) {
    const result = await this.client.callTool({ name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return result.structuredContent;
  }

  // The error that the tool reports; throws where it does not.
  async refused(name, args = {}) {
    const result = await this.client.callTool({ name, arguments: args });
    if (!result.isError) throw new Error(`${name} was not refused: ${result.content[0].text}`);
    return JSON.parse(result.content[0].text).error;
  }

  async untilOver(operation_id) {
    for (;;) {
      const operation = await this.call('get_operation', { operation_id });
      if (['finished', 'stopped', 'cancelled'].includes(operation.state)) return operation;
    }
  }

  close() {
    return this.client.close();
  }
}
