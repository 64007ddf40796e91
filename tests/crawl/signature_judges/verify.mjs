// Reads a request a line, {url, method, headers, jwk}; prints the verdict of Cloudflare's web-bot-auth.
import { createInterface } from "node:readline";
import { verify } from "web-bot-auth";
import { verifierFromJWK } from "web-bot-auth/crypto";

for await (const line of createInterface({ input: process.stdin })) {
  const { url, method, headers, jwk } = JSON.parse(line);
  try {
    await verify({ url, method, headers }, await verifierFromJWK(jwk));
    console.log("accepted");
  } catch (error) {
    console.log(`refused: ${error.message}`);
  }
}
