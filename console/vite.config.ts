import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  // Addresses of assets are relative to <base>, which the server fills in.
  base: '',
  plugins: [svelte()],
  cacheDir: '.vite',
  build: {
    target: 'es2022',
    // An asset as a data: address would need more than 'self' in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
