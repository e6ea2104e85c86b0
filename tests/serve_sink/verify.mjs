// verify.mjs: for every line of JSON {secret, headers, body} prints whether the `standardwebhooks` package takes it.
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  try {
    new Webhook(secret).verify(body, headers);
    console.log("verified");
  } catch (error) {
    console.log(`refused: ${error.message}`);
  }
}
